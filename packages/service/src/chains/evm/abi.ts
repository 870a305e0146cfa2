/**
 * Encodes and decodes calls, their results and events by an ABI. The library looks a function up by its name and hashes its
 * signature at each call; here that is done once for each function and event.
 */
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  decodeAbiParameters,
  decodeEventLog,
  type DecodeEventLogReturnType,
  decodeFunctionData as decodeData,
  decodeFunctionResult as decode,
  encodeFunctionData as encode,
  prepareEncodeFunctionData,
  toFunctionSelector,
} from "viem";
import type { Hex } from "../../core/hex.ts";

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

/** The functions of each ABI by their selector. */
const selectors = new WeakMap<object, ReadonlyMap<string, AbiFunction>>();

function functionsOf(abi: Abi): ReadonlyMap<string, AbiFunction> {
  const known = selectors.get(abi);
  if (known) return known;
  const functions = abi.filter((item) => item.type === "function");
  const found = new Map(functions.map((item) => [toFunctionSelector(item), item]));
  selectors.set(abi, found);
  return found;
}

/** Decodes the data of a call, as the library does. */
export const decodeFunctionData: typeof decodeData = (parameters) => {
  // CAST: the parameters' form, whose type depends on the ABI.
  const { abi, data } = parameters as { readonly abi: Abi; readonly data: Hex };
  const found = functionsOf(abi).get(data.slice(0, SELECTOR_CHARACTERS).toLowerCase());
  if (!found) return decodeData(parameters);
  const { name: functionName, inputs } = found;
  const words: Hex = `0x${data.slice(SELECTOR_CHARACTERS)}`;
  const args = inputs.length > 0 ? decodeAbiParameters(inputs, words) : undefined;
  // CAST: as above.
  return { functionName, args } as never;
};

/** Of `0x` and four bytes. */
const SELECTOR_CHARACTERS = 10;

/** An event whose indexed inputs are words, which its topics hold. */
interface PreparedEvent {
  readonly indexed: readonly { readonly name: string; readonly type: string }[];
  readonly rest: readonly AbiParameter[];
}

const events = new WeakMap<AbiEvent, PreparedEvent | null>();

/** Returns the inputs of an event; null for one with an input without a name, or an indexed one of which topics hold the hash. */
function prepareEvent(event: AbiEvent): PreparedEvent | null {
  const known = events.get(event);
  if (known !== undefined) return known;
  const indexed = event.inputs.flatMap(({ indexed, name = "", type }) =>
    indexed === true ? [{ name, type }] : [],
  );
  const isPlain = event.inputs.every(
    ({ name, indexed, type }) =>
      name !== undefined && name !== "" && !(indexed && /^(string|bytes|tuple)$|\]$/.test(type)),
  );
  const rest = event.inputs.filter((input) => input.indexed !== true);
  const prepared = isPlain ? { indexed, rest } : null;
  events.set(event, prepared);
  return prepared;
}

/**
 * Decodes a log as the given event, as the library does in its strict mode. The caller has compared the first topic.
 * @throws Error if the topics or the data are not of this event.
 */
export function decodeEvent<const Event extends AbiEvent>(
  event: Event,
  { topics, data }: { readonly topics: readonly Hex[]; readonly data: Hex },
): DecodeEventLogReturnType<readonly [Event]> {
  const prepared = prepareEvent(event);
  const [signature, ...words] = topics;
  if (!prepared || !signature || words.length < prepared.indexed.length) {
    // CAST: a log has its signature first.
    const all = topics as [Hex, ...Hex[]];
    // CAST: the result's type depends on the event.
    return decodeEventLog({ abi: [event], data, topics: all, strict: true }) as never;
  }
  const args: Record<string, unknown> = {};
  for (const [place, input] of prepared.indexed.entries()) {
    [args[input.name]] = decodeAbiParameters([input], words[place] ?? "0x");
  }
  const values = prepared.rest.length > 0 ? decodeAbiParameters(prepared.rest, data) : [];
  for (const [place, { name = "" }] of prepared.rest.entries()) args[name] = values[place];
  // CAST: the inputs of the event by their names.
  return { eventName: event.name, args: event.inputs.length > 0 ? args : undefined } as never;
}
