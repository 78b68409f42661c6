;; Answers `fine`, and is the smallest tool there is.
(module
  (memory (export "memory") 1)
  ;; result: ok, a list of one; content: text; the text.
  (data (i32.const 64) "\00\00\00\00\50\00\00\00\01\00\00\00")
  (data (i32.const 80) "\00\00\00\00\70\00\00\00\04\00\00\00")
  (data (i32.const 112) "fine")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "hotcell:tool/tool@0.1.0#describe") (result i32) (i32.const 16))
  (func (export "hotcell:tool/tool@0.1.0#invoke")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64) (result i32)
    (i32.const 64)))
