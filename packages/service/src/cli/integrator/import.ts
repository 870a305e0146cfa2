/**
 * Creates many integrators in one process. Every line of the input is checked before the first integrator is created; a key is
 * printed as soon as it exists, so that none is lost if a later line fails.
 */
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Config } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { createIntegrator, createKey, isNameTaken } from "../../integrators/index.ts";
import type { Db } from "../../db/schema.ts";
import type { ServiceDatabase } from "../../roles/database.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call } from "../command.ts";
import { withDatabase } from "../with-database.ts";

const bps = Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 }));

/** One line of the input. */
const Line = Type.Object(
  {
    name: Type.String(),
    refundEvm: Type.String(),
    refundSolana: Type.Optional(Type.String()),
    maxFeeBps: bps,
    maxSlippageBps: bps,
    depositAddresses: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** Creates an integrator and an API key per line of standard input. One that exists is not changed and gets another key. */
export async function run(call: Call): Promise<undefined> {
  const lines = parseLines(await text(process.stdin));
  const config = call.readConfig();
  await withDatabase(config, ({ db }) => importLines(call, { db, config }, lines));
}

/**
 * Waits for lines of standard input up to an empty one, creates their integrators, and waits for a second empty line. The
 * database stays open for the process that then serves.
 * @returns the configuration, or null if the input ended before
 * @throws OperatingError that names the line and the field
 */
export async function prepareIntegrators(
  call: Call,
  readConfig: () => Config,
): Promise<Config | null> {
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();
  const readPart = async () => {
    const part: string[] = [];
    for (;;) {
      const { done, value } = await lines.next();
      if (done) return null;
      if (value === "") return part;
      part.push(value);
    }
  };
  try {
    const part = await readPart();
    if (!part) return null;
    const integrators = parseLines(part.join("\n"));
    const config = readConfig();
    const create = ({ db }: ServiceDatabase) => importLines(call, { db, config }, integrators);
    await withDatabase(config, create, { keepServer: true });
    // Tells that the keys are complete.
    await call.write("");
    return (await readPart()) && config;
  } finally {
    input.close();
  }
}

async function importLines(
  call: Call,
  { db, config }: { readonly db: Db; readonly config: Config },
  lines: ReturnType<typeof parseLines>,
): Promise<void> {
  for (const { refundEvm, refundSolana, depositAddresses = true, ...line } of lines) {
    const { name, maxFeeBps = config.maxFeeBps, maxSlippageBps = config.maxSlippageBps } = line;
    if (!(await isNameTaken(db, name))) {
      await createIntegrator(
        { db, random: systemRandom },
        { name, refundEvm, refundSolana, maxFeeBps, maxSlippageBps },
      );
    }
    const { keyId, apiKey } = await createKey(
      { db, random: systemRandom, pepper: config.apiKeyPepper },
      { integrator: name, depositAddresses },
    );
    await call.write(JSON.stringify({ name, keyId, apiKey }));
  }
}

function parseLines(input: string) {
  return input.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const value = parseJson(line, index + 1);
    if (Value.Check(Line, value)) return [value];
    const [error] = Value.Errors(Line, value);
    const field = error?.instancePath.slice(1) || "the line";
    throw invalid(index + 1, `${field} ${error?.message ?? "is not valid"}`);
  });
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalid(number, 'expected a JSON object, such as {"name":"acme","refundEvm":"0x…"}');
  }
}

function invalid(line: number, problem: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `line ${line}: ${problem}.`, { details: { line } });
}
