#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnfold_tests::fuzz::play("desk", bytes));
