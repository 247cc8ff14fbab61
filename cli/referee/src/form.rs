//! The form of a module: what its file must have (MD-3).

use wasmi::{Config, CustomFuelCosts, Engine, ExternType, FuncType, Linker, Module, StoreLimits, ValType};

use turnfold_core::registry::MODULE_BYTES_MAX;
use turnfold_core::text::in_one_line;

use crate::load::LoadError;

/// The most bytes of an instance's memory (MD-6).
pub(crate) const MEMORY_BYTES_MAX: usize = 256 << 20;

/// How deep calls may nest, and the most bytes of their stack.
const CALL_DEPTH_MAX: usize = 10_000;
const STACK_BYTES_MAX: usize = 4 << 20;

const PAGE_BYTES: u64 = 1 << 16;

pub(crate) struct Form {
    pub(crate) module: Module,
    /// Defines nothing, because a module imports nothing.
    pub(crate) linker: Linker<StoreLimits>,
}

impl Form {
    pub(crate) fn read(file: &[u8]) -> Result<Self, LoadError> {
        if file.len() > MODULE_BYTES_MAX {
            return Err(LoadError::NoModule(format!("{} bytes are more than 16 MiB", file.len())));
        }
        if !file.starts_with(b"\0asm") {
            return Err(LoadError::NoWebAssembly("it does not begin as WebAssembly does".into()));
        }
        let engine = Engine::new(&config());
        let module = Module::new(&engine, file).map_err(|error| no_web_assembly(&error))?;
        if let Some(import) = module.imports().next() {
            let name = format!("{:?} from {:?}", import.name(), import.module());
            return Err(LoadError::NoModule(format!("it imports {name}, and a module imports nothing")));
        }
        check_exports(&module)?;
        Ok(Self { linker: Linker::new(&engine), module })
    }
}

/// The parts of WebAssembly that a module may use. A feature of the interpreter makes NaNs deterministic.
fn config() -> Config {
    let mut config = Config::default();
    config.wasm_mutable_global(true).wasm_sign_extension(true).wasm_saturating_float_to_int(true);
    config.wasm_multi_value(true).wasm_bulk_memory(true).wasm_reference_types(true).floats(true);
    config.wasm_multi_memory(false).wasm_tail_call(false).wasm_extended_const(false);
    config.wasm_custom_page_sizes(false).wasm_wide_arithmetic(false);
    config.allow_start_fn(false).ignore_custom_sections(true).consume_fuel(true);
    config.set_max_recursion_depth(CALL_DEPTH_MAX).set_max_stack_height(STACK_BYTES_MAX);
    // Functions are translated when they are first called. That costs no fuel, so that equal calls burn the same.
    let [fuel_per_bytes_translated, fuel_per_bytes_validated] = [0; 2];
    let bytes_copied_per_fuel = 64;
    config.fuel_cost(CustomFuelCosts {
        bytes_copied_per_fuel,
        fuel_per_bytes_translated,
        fuel_per_bytes_validated,
    });
    config
}

fn check_exports(module: &Module) -> Result<(), LoadError> {
    use ValType::{I32, I64};
    let functions = [
        ("turnfold_abi", FuncType::new([], [I32])),
        ("turnfold_alloc", FuncType::new([I32], [I32])),
        ("turnfold_call", FuncType::new([I32, I32], [I64])),
    ];
    for (name, wanted) in functions {
        match module.get_export(name) {
            Some(ExternType::Func(found)) if found == wanted => (),
            Some(_) => return Err(LoadError::NoModule(format!("its export `{name}` has another type"))),
            None => return Err(LoadError::NoModule(format!("it exports no `{name}`"))),
        }
    }
    let Some(ExternType::Memory(memory)) = module.get_export("memory") else {
        return Err(LoadError::NoModule("it exports no memory".into()));
    };
    let bytes = memory.minimum().saturating_mul(PAGE_BYTES);
    if usize::try_from(bytes).is_ok_and(|bytes| bytes <= MEMORY_BYTES_MAX) {
        return Ok(());
    }
    Err(LoadError::NoModule(format!("its memory begins with {bytes} bytes, which is more than 256 MiB")))
}

fn no_web_assembly(error: &wasmi::Error) -> LoadError {
    LoadError::NoWebAssembly(in_one_line(&error.to_string()))
}
