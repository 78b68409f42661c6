;; Overflows the machine's stack: no frame of it is in linear memory.
(module
  (memory (export "memory") 1)
  (func $descend (param i64) (result i64)
    (i64.add (call $descend (i64.add (local.get 0) (i64.const 1))) (local.get 0)))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  ;; describe: a list of one definition; its texts; no capability.
  (data (i32.const 64) "\80\00\00\00\01\00\00\00")
  (data (i32.const 128) "\a0\00\00\00\05\00\00\00\a5\00\00\00\07\00\00\00\ac\00\00\00\11\00\00\00\00\00")
  (data (i32.const 160) "guestA guest{\"type\":\"object\"}")
  (func (export "hotcell:tool/tool@0.1.0#describe") (result i32) (i32.const 64))
  (func (export "hotcell:tool/tool@0.1.0#invoke")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64) (result i32)
    (drop (call $descend (i64.const 0)))
    unreachable))
