/** A third party's contract that answers given calls with given values, and reverts on all others. */
import {
  type Abi,
  concat,
  encodeFunctionResult,
  type Hex,
  numberToHex,
  parseAbi,
  size,
  toFunctionSelector,
} from "viem";

/** An answer by the signature of its view, such as `function decimals() view returns (uint8)`. */
export type Answers = Readonly<Record<string, unknown>>;

const LOAD_SELECTOR: Hex = "0x60003560e01c";
const REVERT: Hex = "0x60006000fd";

/** Runtime code: jumps by selector to code that copies the answer from the end of the code. */
export function answeringCode(answers: Answers): Hex {
  const views = Object.entries(answers).map(([signature, answer]) => {
    const abi: Abi = parseAbi([signature]);
    return {
      selector: toFunctionSelector(signature),
      bytes: encodeFunctionResult({ abi, result: answer }),
    };
  });
  const word = (value: number) => numberToHex(value, { size: 2 });
  const [branchSize, bodySize] = [11, 16];
  const bodiesAt = size(LOAD_SELECTOR) + views.length * branchSize + size(REVERT);
  const bytesAt = bodiesAt + views.length * bodySize;
  const branches = views.map(({ selector }, index) =>
    concat(["0x8063", selector, "0x1461", word(bodiesAt + index * bodySize), "0x57"]),
  );
  const bodies = views.map(({ bytes }, index) => {
    const before = views.slice(0, index).reduce((sum, view) => sum + size(view.bytes), 0);
    const [length, from] = [word(size(bytes)), word(bytesAt + before)];
    return concat(["0x5b61", length, "0x61", from, "0x60003961", length, "0x6000f3"]);
  });
  return concat([
    LOAD_SELECTOR,
    ...branches,
    REVERT,
    ...bodies,
    ...views.map(({ bytes }) => bytes),
  ]);
}
