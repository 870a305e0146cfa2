/** `eth_call` as far as a reader of balances needs it: the service's two readers, and `balanceOf`. */
import { asRecord } from "../../json-file.ts";
import { NATIVE } from "./deposits.ts";

/** Creation code that answers two words per pair of token and owner (20 bytes each): success and balance. */
const TOKEN_READER =
  "0x605c60405b388210601257604090036040f35b5a620668a010601d57fe5b6370a0823160e01b600052601480830160103960148282600c013960208160200160246000845162061a80fa3d6020141681526040019060280190600456";
/** Creation code that answers 12 bytes per owner: its native coin, or all ones if that needs more. */
const NATIVE_READER =
  "0x603460005b388210600e576000f35b60148282600c01398051318060601c15156000031760a01b8152600c019060140190600456";
const PACKED_MAX = 2n ** 96n - 1n;
const BALANCE_OF = "0x70a08231";

const ADDRESS = 40;

/** Returns base units of a token, or of `native`, that an owner has. */
type ReadBalance = (token: string, owner: string) => bigint;

/** Returns the answer to a call; undefined for a call that this chain cannot answer. */
export function answerCall(call: unknown, readBalance: ReadBalance): string | undefined {
  const record = asRecord(call) ?? {};
  const data = String(record["data"] ?? record["input"] ?? "").toLowerCase();
  const to = record["to"];
  if (typeof to === "string") {
    if (!data.startsWith(BALANCE_OF) || data.length !== 74) return undefined;
    return `0x${word(readBalance(to.toLowerCase(), `0x${data.slice(34)}`))}`;
  }
  if (data.startsWith(TOKEN_READER)) {
    const pairs = split(data.slice(TOKEN_READER.length), 2 * ADDRESS);
    const words = pairs.map((pair) => {
      const [token, owner] = [`0x${pair.slice(0, ADDRESS)}`, `0x${pair.slice(ADDRESS)}`];
      return word(1n) + word(readBalance(token, owner));
    });
    return `0x${words.join("")}`;
  }
  if (data.startsWith(NATIVE_READER)) {
    const owners = split(data.slice(NATIVE_READER.length), ADDRESS);
    return `0x${owners.map((owner) => pack(readBalance(NATIVE, `0x${owner}`))).join("")}`;
  }
  return undefined;
}

function split(text: string, length: number): string[] {
  return Array.from({ length: Math.floor(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}

function pack(value: bigint): string {
  return (value < PACKED_MAX ? value : PACKED_MAX).toString(16).padStart(24, "0");
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
