/** Encodes mints, and writes the genesis mints of a new chain. */
import type { Address } from "@solana/kit";
import {
  AccountState,
  extension,
  type ExtensionArgs,
  getMintEncoder,
} from "@solana-program/token-2022";
import type { Chain } from "./chain.ts";
import type { MintRequest } from "./controls.ts";
import { FAUCET_LAMPORTS, MINTED_TOKENS } from "./genesis.ts";
import type { StoredAccount } from "./svm/account-history.ts";
import {
  SYSTEM_PROGRAM_ADDRESS,
  TOKEN_2022_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from "./svm/programs.ts";

/** Writes the mints and the faucet's lamports to a new chain. The faucet is last: if it exists, genesis is complete. */
export function writeGenesis(chain: Chain, faucet: Address): void {
  for (const { mint, decimals } of MINTED_TOKENS) {
    chain.write(mint, makeMint({ decimals }, faucet, chain.bank.minimumBalance), "always");
  }
  const account = {
    lamports: FAUCET_LAMPORTS,
    data: new Uint8Array(),
    programAddress: SYSTEM_PROGRAM_ADDRESS,
    executable: false,
  };
  chain.write(faucet, account, "always");
}

/** Returns the account of a mint. */
export function makeMint(
  request: MintRequest,
  faucet: Address,
  minimumBalance: (bytes: bigint) => bigint,
): StoredAccount {
  const extensions = listExtensions(request, faucet);
  const program = request.program ?? (extensions.length > 0 ? "token-2022" : "token");
  if (program === "token" && extensions.length > 0) {
    throw new Error("extensions need program token-2022, got token");
  }
  const data = Uint8Array.from(
    getMintEncoder().encode({
      mintAuthority: request.mintAuthority ?? faucet,
      supply: 0n,
      decimals: request.decimals,
      isInitialized: true,
      freezeAuthority: faucet,
      extensions: extensions.length > 0 ? [...extensions] : null,
    }),
  );
  return {
    lamports: minimumBalance(BigInt(data.length)),
    data,
    programAddress: program === "token" ? TOKEN_PROGRAM_ADDRESS : TOKEN_2022_PROGRAM_ADDRESS,
    executable: false,
  };
}

function listExtensions(request: MintRequest, authority: Address): readonly ExtensionArgs[] {
  const { transferFee, permanentDelegate, pausable, frozenByDefault, transferHook } = request;
  const extensions: ExtensionArgs[] = [];
  if (transferFee) {
    const { basisPoints: transferFeeBasisPoints, maximum: maximumFee } = transferFee;
    const fee = { epoch: 0n, maximumFee, transferFeeBasisPoints };
    extensions.push(
      extension("TransferFeeConfig", {
        transferFeeConfigAuthority: authority,
        withdrawWithheldAuthority: authority,
        withheldAmount: 0n,
        olderTransferFee: fee,
        newerTransferFee: fee,
      }),
    );
  }
  if (permanentDelegate) {
    extensions.push(extension("PermanentDelegate", { delegate: permanentDelegate }));
  }
  if (pausable) extensions.push(extension("PausableConfig", { authority, paused: false }));
  if (frozenByDefault) {
    extensions.push(extension("DefaultAccountState", { state: AccountState.Frozen }));
  }
  if (request.nonTransferable) extensions.push(extension("NonTransferable", {}));
  if (transferHook) {
    extensions.push(extension("TransferHook", { authority, programId: transferHook }));
  }
  return extensions;
}
