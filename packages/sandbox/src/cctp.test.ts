import { describe, expect, test } from "vitest";
import { sandboxMessageTransmitterV2Abi, sandboxTokenMessengerV2Abi } from "@sluice/contracts/abi";
import published from "@sluice/contracts/vectors/cctp" with { type: "json" };

interface Parameter {
  readonly name?: string;
  readonly type: string;
  readonly indexed?: boolean;
}

interface Entry {
  readonly type: string;
  readonly name?: string;
  readonly inputs?: readonly Parameter[];
  readonly outputs?: readonly Parameter[];
  readonly stateMutability?: string;
}

/** What decides the bytes on the wire; names of parameters do not. */
function shapeOf(entry: Entry) {
  const { type, name, inputs = [], outputs, stateMutability } = entry;
  return {
    type,
    name,
    inputs: inputs.map((input) => [input.type, input.indexed ?? false]),
    ...(outputs ? { outputs: outputs.map((output) => output.type), stateMutability } : {}),
  };
}

function shapesOf(entries: readonly Entry[], names: ReadonlySet<string | undefined>) {
  return entries
    .filter(({ name }) => names.has(name))
    .map(shapeOf)
    .toSorted((a, b) => `${a.type} ${a.name}`.localeCompare(`${b.type} ${b.name}`, "en"));
}

describe("the stand-ins of CCTP v2 speak as Circle's published ABIs do", () => {
  test.each([
    ["TokenMessengerV2", published.tokenMessengerV2, sandboxTokenMessengerV2Abi],
    ["MessageTransmitterV2", published.messageTransmitterV2, sandboxMessageTransmitterV2Abi],
  ] as const)("%s", (_, circles, ours) => {
    const theirs = circles.map(({ outputs, ...entry }: { outputs?: string[] } & Entry) => ({
      ...entry,
      ...(outputs ? { outputs: outputs.map((type) => ({ type })) } : {}),
    }));
    const names = new Set(theirs.map(({ name }) => name));
    expect(shapesOf(ours, names)).toEqual(shapesOf(theirs, names));
  });
});
