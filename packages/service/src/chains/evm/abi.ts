/**
 * Encodes calls and decodes their results by an ABI. The library looks a function up by its name and hashes its signature at
 * each call; here that is done once for each function.
 */
import {
  decodeFunctionResult as decode,
  encodeFunctionData as encode,
  prepareEncodeFunctionData,
} from "viem";

interface Prepared {
  readonly abi: readonly unknown[];
  readonly functionName: string;
}

const prepared = new WeakMap<object, Map<string, Prepared>>();

/** Returns the one function of a name with its selector; undefined if several have the name. */
function prepare(abi: readonly unknown[], functionName: string): Prepared | undefined {
  const known = prepared.get(abi) ?? new Map<string, Prepared>();
  prepared.set(abi, known);
  const found = known.get(functionName);
  if (found) return found;
  const named = abi.filter(
    (item) =>
      typeof item === "object" && item !== null && "name" in item && item.name === functionName,
  );
  if (named.length !== 1) return undefined;
  // CAST: an ABI of the library's form, whose types are those of the caller.
  const made = prepareEncodeFunctionData({ abi, functionName } as never) as Prepared;
  known.set(functionName, made);
  return made;
}

/** Encodes a call, as the library does. */
export const encodeFunctionData: typeof encode = (parameters) => {
  // CAST: the parameters' form, whose type depends on the ABI.
  const { abi, functionName, args } = parameters as {
    readonly abi: readonly unknown[];
    readonly functionName?: string;
    readonly args?: readonly unknown[];
  };
  const ready = functionName === undefined ? undefined : prepare(abi, functionName);
  // CAST: the same function under its selector.
  return encode(ready ? ({ ...ready, args } as never) : parameters);
};

/** Decodes the result of a call, as the library does. */
export const decodeFunctionResult: typeof decode = (parameters) => {
  // CAST: as above.
  const { abi, functionName } = parameters as {
    readonly abi: readonly unknown[];
    readonly functionName?: string;
  };
  const ready = functionName === undefined ? undefined : prepare(abi, functionName);
  // CAST: the same function, alone in its ABI.
  return decode((ready ? { ...parameters, abi: ready.abi } : parameters) as never) as never;
};
