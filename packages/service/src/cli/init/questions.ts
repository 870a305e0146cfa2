/** The few questions whose answers no preset has. */
import { isAddress } from "@sluice/sdk/address";
import { findPreset, isTest, PRESETS, type Preset } from "../../config/presets/index.ts";
import type { Dialog } from "./dialog.ts";

export interface Answers {
  readonly chains: readonly {
    readonly preset: Preset;
    /** Of the service, and of the attestor, which needs a view of its own. */
    readonly nodes: readonly string[];
    readonly attestorNodes: readonly string[];
    readonly startBlock: number;
  }[];
  /** Symbols, listed on every chain that has them. */
  readonly tokens: readonly string[];
  readonly owner: string;
  readonly guardian: string;
  /** Null for the treasury contract. */
  readonly treasury: string | null;
  /** Null for none yet: the doctor insists on one. */
  readonly coldAttestor: string | null;
  readonly securityContact: string;
  readonly feeBps: number;
  readonly databaseUrl: string;
}

/** Reads the newest height of a node; null if it does not answer as the chain. */
export type ReadHeight = (preset: Preset, url: string) => Promise<number | null>;

export async function askAll({ ask }: Dialog, readHeight: ReadHeight): Promise<Answers> {
  const presets = await ask({
    text: `Chains, of ${PRESETS.map(({ name }) => name).join(", ")}`,
    fallback: "ethereum-sepolia,base-sepolia",
    parse: parseChains,
  });
  const chains = [];
  for (const preset of presets) {
    const nodes = await ask({
      text: `${preset.name}: URLs of your nodes, three of different operators`,
      parse: parseUrls,
    });
    const attestorNodes = await ask({
      text: `${preset.name}: URLs of the attestor's nodes, of other operators`,
      parse: (text) => refuseSame(parseUrls(text), nodes),
    });
    const height = await readHeight(preset, nodes[0] ?? "");
    const startBlock = await ask({
      text: `${preset.name}: the block from which deposits are looked for`,
      ...(height !== null && { fallback: String(height) }),
      parse: parseHeight,
    });
    chains.push({ preset, nodes, attestorNodes, startBlock });
  }
  const symbols = [...new Set(presets.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)))];
  const tokens = await ask({
    text: `Tokens, of ${symbols.join(", ")}`,
    fallback: "USDC",
    parse: (text) => parseSome(text, symbols),
  });
  const owner = await ask({ text: "Owner of the contracts, a multisig", parse: parseAddress });
  const guardian = await ask({
    text: "Guardian, who can pause at three in the morning",
    parse: (text) => refuseEqual(parseAddress(text), owner, "the owner"),
  });
  const treasury = await ask({
    text: "Treasury, which receives claims and fees: an account, or the contract that refills the inventory",
    fallback: "the contract",
    parse: (text) => (text === "the contract" ? null : parseAddress(text)),
  });
  const coldAttestor = await ask({
    text: "Address of a second attestor, which stays cold",
    fallback: "none yet",
    parse: (text) => (text === "none yet" ? null : parseAddress(text)),
  });
  const securityContact = await ask({
    text: "Address for reports of vulnerabilities",
    parse: parseContact,
  });
  const feeBps = await ask({ text: "Fee in basis points", fallback: "10", parse: parseFee });
  const databaseUrl = await ask({
    text: "URL of your PostgreSQL, postgres://USER:PASSWORD@HOST/DATABASE",
    parse: parseDatabase,
  });
  const people = { owner, guardian, treasury, coldAttestor, securityContact };
  return { chains, tokens, ...people, feeBps, databaseUrl };
}

function parseSome(text: string, known: readonly string[]): readonly string[] {
  const named = text.split(",").map((one) => one.trim());
  if (named.every((one, at) => known.includes(one) && named.indexOf(one) === at)) return named;
  throw new Error(`expected some of ${known.join(", ")}, each once`);
}

function parseChains(text: string): readonly Preset[] {
  const names = parseSome(
    text,
    PRESETS.map(({ name }) => name),
  );
  const presets = names.flatMap((name) => findPreset(name) ?? []);
  if (new Set(presets.map(isTest)).size > 1) {
    throw new Error("expected main networks or test networks, not both");
  }
  return presets;
}

function parseUrls(text: string): readonly string[] {
  const urls = text.split(",").map((one) => one.trim());
  if (!urls.every((url) => URL.canParse(url) && /^https?:/.test(url))) {
    throw new Error("expected http or https URLs, separated by commas");
  }
  // Two URLs of one host are one node.
  if (new Set(urls.map((url) => new URL(url).host)).size === urls.length) return urls;
  throw new Error("expected a host of its own for each node");
}

function refuseSame(urls: readonly string[], others: readonly string[]): readonly string[] {
  if (!urls.some((url) => others.includes(url))) return urls;
  throw new Error(
    "expected other nodes than the service's: the attestor is the second of two views",
  );
}

function parseHeight(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error("expected a block number");
}

function parseAddress(text: string): string {
  if (isAddress(text)) return text;
  throw new Error("expected an address, 0x and 40 hex digits, with a valid checksum");
}

function refuseEqual(address: string, other: string, name: string): string {
  if (address.toLowerCase() !== other.toLowerCase()) return address;
  throw new Error(`expected another account than ${name}`);
}

function parseContact(text: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return text;
  throw new Error("expected an e-mail address");
}

function parseFee(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new Error("expected basis points, a whole number");
}

function parseDatabase(text: string): string {
  if (URL.canParse(text) && /^postgres(ql)?:/.test(text)) return text;
  throw new Error("expected postgres://USER:PASSWORD@HOST/DATABASE");
}
