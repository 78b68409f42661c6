;; Declares a memory of 128 MiB.
(module
  (memory (export "memory") 2048)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "hotcell:tool/tool@0.1.0#describe") (result i32) (i32.const 64))
  (func (export "hotcell:tool/tool@0.1.0#invoke")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64) (result i32)
    unreachable))
