import { describe, expect, test } from "vitest";
import { sandboxMessageTransmitterV2Abi, sandboxTokenMessengerV2Abi } from "@sluice/contracts/abi";
import published from "@sluice/contracts/vectors/cctp" with { type: "json" };

interface Parameter {
  readonly type: string;
  readonly indexed?: boolean | undefined;
}

interface Entry {
  readonly type: string;
  readonly name?: string | undefined;
  readonly inputs?: readonly Parameter[] | undefined;
  readonly outputs?: readonly Parameter[] | undefined;
  readonly stateMutability?: string | undefined;
}

/** Returns the parts of an ABI entry that determine the encoding, without parameter names. */
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

describe("CCTP v2 stand-ins have the ABI that Circle publishes", () => {
  test.each([
    ["TokenMessengerV2", published.tokenMessengerV2, sandboxTokenMessengerV2Abi],
    ["MessageTransmitterV2", published.messageTransmitterV2, sandboxMessageTransmitterV2Abi],
  ] as const)("%s", (_, circles, ours) => {
    const names = new Set<string | undefined>(circles.map(({ name }) => name));
    expect(shapesOf(ours, names)).toEqual(shapesOf(circles, names));
  });
});
