/** Writes a configuration from the answers, as the units and images of `deploy/` expect it. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chainOf } from "../../config/presets/index.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Random } from "../../core/ports.ts";
import type { Answers } from "./questions.ts";

const LANES = ["deploy", "settle", "deliver", "claim"] as const;

export const CONFIG = "sluice.json";
export const SECRETS = "secrets";

/** Returns the configuration; keystores lie below `folder`. */
export function describeConfig(folder: string, answers: Answers): object {
  const { chains, tokens, owner, guardian, treasury, coldAttestor, securityContact } = answers;
  const keystore = (name: string) => ({ keystore: join(folder, "keys", `${name}.json`) });
  const attestorNodes = chains.map(({ preset, attestorNodes: urls }) => [
    chainOf(preset).name,
    urls,
  ]);
  return {
    stateDir: "/var/lib/sluice",
    database: { url: { credential: "database-url" } },
    apiKeyPepper: { credential: "api-key-pepper" },
    keystorePassphrase: { credential: "keystore-passphrase" },
    telemetry: { host: "127.0.0.1", port: 9100 },
    feeBps: answers.feeBps,
    deployment: { owner, guardian, ...(treasury !== null && { treasury }), securityContact },
    ...(coldAttestor !== null && { attestors: { cold: [coldAttestor] } }),
    attestor: { key: keystore("attestor"), rpcUrls: Object.fromEntries(attestorNodes) },
    chains: chains.map(({ preset, nodes, startBlock }) => ({
      preset: preset.name,
      rpcUrls: nodes,
      startBlock,
      tokens: tokens.filter((symbol) => preset.tokens.some((token) => token.symbol === symbol)),
      lanes: Object.fromEntries(
        LANES.map((purpose) => [purpose, keystore(`${chainOf(preset).name}-${purpose}`)]),
      ),
    })),
  };
}

/** Writes the configuration and its secrets, two of which are drawn. Throws CONFIG_MISSING if there is a configuration already. */
export function writeAll(folder: string, answers: Answers, random: Random): void {
  const path = join(folder, CONFIG);
  if (existsSync(path)) {
    throw new OperatingError("CONFIG_MISSING", `${path}: expected no configuration there yet.`);
  }
  for (const name of ["", SECRETS, "keys"]) {
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  }
  const draw = () => `${random.uuid()}${random.uuid()}`.replaceAll("-", "");
  const secrets = {
    "database-url": answers.databaseUrl,
    "api-key-pepper": draw(),
    "keystore-passphrase": draw(),
  };
  for (const [name, secret] of Object.entries(secrets)) {
    writeFileSync(join(folder, SECRETS, name), `${secret}\n`, { mode: 0o600, flag: "wx" });
  }
  writeFileSync(path, `${JSON.stringify(describeConfig(folder, answers), null, 2)}\n`, {
    flag: "wx",
  });
}
