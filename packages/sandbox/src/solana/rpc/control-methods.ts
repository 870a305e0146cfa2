/** The controls as JSON-RPC methods. */
import { asRecord } from "../../json-file.ts";
import { CONTROL_PREFIX, type MintRequest, type SolanaControls } from "../controls.ts";
import type { Chain } from "../chain.ts";
import type { Faucet } from "../faucet.ts";
import type { Methods } from "./method.ts";
import { toAddress, toOneOf } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the methods of the controls, with their prefix. */
export function controlMethods(controls: SolanaControls): Methods {
  const methods: Record<keyof SolanaControls, Methods[string]> = {
    tick: (params) => controls.tick(params.at(0) === undefined ? 1 : toCount(params.at(0))),
    skipSlots: (params) => controls.skipSlots(toCount(params.at(0))),
    fork: (params) => {
      const { blocks, replay } = params.optionsAt(0);
      return controls.fork({ blocks: toCount(blocks), replay: replay === true });
    },
    dropNextSends: (params) => controls.dropNextSends(toCount(params.at(0))),
    rateLimitNext: (params) => controls.rateLimitNext(toCount(params.at(0))),
    failNext: (params) => {
      const { method, code, message, count } = params.optionsAt(0);
      if (typeof code !== "number") throw invalidParams("Invalid params: expected a code");
      return controls.failNext({
        code,
        message: typeof message === "string" ? message : "simulated failure",
        count: count === undefined ? 1 : toCount(count),
        ...(typeof method === "string" && { method }),
      });
    },
    clearFaults: () => controls.clearFaults(),
    pause: () => controls.pause(),
    resume: () => controls.resume(),
    setLags: (params) => {
      const { confirmed, finalized } = params.optionsAt(0);
      return controls.setLags({ confirmed: toCount(confirmed), finalized: toCount(finalized) });
    },
    setRent: (params) => controls.setRent(toAmount(params.at(0))),
    airdrop: (params) => {
      const { to, amount } = params.optionsAt(0);
      return controls.airdrop({ to: toAddress(to), amount: toAmount(amount) });
    },
    mintTo: (params) => {
      const { mint, owner, amount } = params.optionsAt(0);
      return controls.mintTo({
        mint: toAddress(mint),
        owner: toAddress(owner),
        amount: toAmount(amount),
      });
    },
    createMint: (params) => controls.createMint(toMintRequest(params.optionsAt(0))),
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      `${CONTROL_PREFIX}${name}`,
      // JSON has no undefined: a control without a result returns null.
      async (params) => (await method(params)) ?? null,
    ]),
  );
}

/** Returns `requestAirdrop`, as on test clusters: it responds before the transaction is in a block. */
export function airdropMethods(chain: Chain, faucet: Faucet): Methods {
  return {
    requestAirdrop: async (params) => {
      const decoded = await faucet.transferLamports(
        params.address(0),
        params.integer(1, "an amount"),
      );
      chain.submit(decoded);
      return decoded.signature;
    },
  };
}

function toMintRequest(fields: Fields): MintRequest {
  const fee = asRecord(fields["transferFee"]);
  const { permanentDelegate, transferHook, mintAuthority, program } = fields;
  return {
    decimals: toCount(fields["decimals"]),
    ...(program !== undefined && { program: toOneOf(program, ["token", "token-2022"], "program") }),
    ...(fee && {
      transferFee: { basisPoints: toCount(fee["basisPoints"]), maximum: toAmount(fee["maximum"]) },
    }),
    ...(permanentDelegate !== undefined && { permanentDelegate: toAddress(permanentDelegate) }),
    ...(transferHook !== undefined && { transferHook: toAddress(transferHook) }),
    ...(mintAuthority !== undefined && { mintAuthority: toAddress(mintAuthority) }),
    pausable: fields["pausable"] === true,
    frozenByDefault: fields["frozenByDefault"] === true,
    nonTransferable: fields["nonTransferable"] === true,
  };
}

function toCount(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(
      `Invalid params: expected a non-negative integer, got ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** Parses an amount: a number or, above the safe integers, a decimal string. */
function toAmount(value: unknown): bigint {
  if (typeof value === "string" && /^\d{1,20}$/.test(value)) return BigInt(value);
  return BigInt(toCount(value));
}
