/** Third parties' contracts that pay native coin in ways that no transaction's value shows. */
import { concat, type Hex, size } from "viem";

/** Creation code that forwards its value to `to` by a call while it runs. */
export function payingConstructor(to: Hex): Hex {
  return concat(["0x60006000600060003473", to, "0x5af100"]);
}

/** Creation code of a contract that self-destructs at once, with its value to `to`. */
export function destroyedFor(to: Hex): Hex {
  return concat(["0x73", to, "0xff"]);
}

/** Creation code of a contract that forwards its value to the account in the 20 bytes of its calldata. */
export function forwarder(): Hex {
  return deploying("0x60006000600060003460003560601c5af100");
}

/** The same, but it reverts after the payment. */
export function revertingForwarder(): Hex {
  return deploying("0x60006000600060003460003560601c5af160006000fd");
}

/** Creation code of a contract that calls `target` with its value and calldata, and ignores a failure. */
export function forgivingCaller(target: Hex): Hex {
  return deploying(concat(["0x6014600060003760006000601460003473", target, "0x5af100"]));
}

/** Creation code that deploys up to 255 bytes unchanged. */
function deploying(runtime: Hex): Hex {
  const length: Hex = `0x${size(runtime).toString(16).padStart(2, "0")}`;
  return concat(["0x60", length, "0x80600b6000396000f3", runtime]);
}
