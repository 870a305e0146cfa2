/** A third party's contract that emits any log: its calldata is the topics, then the log's data. */
import { concat, type Hex, size } from "viem";

/** Returns the creation code of an emitter of logs with the given number of topics. */
export function emitterBytecode(topics: 3 | 4): Hex {
  const from: Hex = topics === 3 ? "0x60" : "0x80";
  const logData: Hex = concat(["0x60", from, "0x3603"]);
  const loadTopics: Hex = topics === 3 ? "0x604035602035600035" : "0x606035604035602035600035";
  const log: Hex = topics === 3 ? "0xa3" : "0xa4";
  const copyData = concat([logData, "0x60", from, "0x600037"]);
  const runtime = concat([copyData, loadTopics, logData, "0x6000", log, "0x00"]);
  const length: Hex = `0x${size(runtime).toString(16).padStart(2, "0")}`;
  return concat(["0x60", length, "0x8060093d393df3", runtime]);
}
