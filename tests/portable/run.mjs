// Runs a program built for wasm32-wasip1: node run.mjs PROGRAM ROOT ARGUMENT…
// The program sees the folder ROOT as `/`, and nothing else of the machine.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { WASI } from "node:wasi";

const [program, root, ...words] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...words], preopens: { "/": root }, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
