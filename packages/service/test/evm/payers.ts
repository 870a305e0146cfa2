/** Contracts of strangers that pay in the native coin in ways that no transaction's own value shows. */
import { concat, type Hex, size } from "viem";

/** Creation code whose execution hands all it was given to `to`, by a call. */
export function payingConstructor(to: Hex): Hex {
  return concat(["0x60006000600060003473", to, "0x5af100"]);
}

/** Creation code of a contract that destroys itself at once and leaves what it was given to `to`. */
export function destroyedFor(to: Hex): Hex {
  return concat(["0x73", to, "0xff"]);
}

/** Creation code of a contract that passes on what it is given to the 20 bytes of its calldata. */
export function forwarder(): Hex {
  return deploying("0x60006000600060003460003560601c5af100");
}

/** The same, but it reverts after it has paid. */
export function revertingForwarder(): Hex {
  return deploying("0x60006000600060003460003560601c5af160006000fd");
}

/** Creation code of a contract that calls `target` with all it is given and its calldata, and minds no failure. */
export function forgivingCaller(target: Hex): Hex {
  return deploying(concat(["0x6014600060003760006000601460003473", target, "0x5af100"]));
}

/** Creation code that deploys up to 255 bytes as they are. */
function deploying(runtime: Hex): Hex {
  const length: Hex = `0x${size(runtime).toString(16).padStart(2, "0")}`;
  return concat(["0x60", length, "0x80600b6000396000f3", runtime]);
}
