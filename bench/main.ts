/** `npm run bench -- <name>`: runs one benchmark. */
import { benchGas } from "./gas.ts";

const BENCHES: Readonly<Record<string, () => void>> = { gas: benchGas };

const name = process.argv[2] ?? "";
const bench = BENCHES[name];
if (bench) {
  bench();
} else {
  console.error(`expected one of: ${Object.keys(BENCHES).join(", ")}`);
  process.exitCode = 1;
}
