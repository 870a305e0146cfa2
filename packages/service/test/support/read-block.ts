/** Reads the contents of one block through `readSection`, of any account. */
import type {
  BlockRef,
  Chain,
  ChooseAccounts,
  Outflow,
  ScannedBlock,
  SectionRequest,
  Transfer,
} from "../../src/chains/port/index.ts";
import { OperatingError } from "../../src/core/errors.ts";
import type { Address } from "../../src/core/hex.ts";

type Reader = Pick<Chain, "readSection" | "coin" | "chainId">;

const everyone: ChooseAccounts = async (accounts) => new Set(accounts);

async function readNext(
  chain: Reader,
  after: bigint,
  { tokens = [], choose = everyone }: Partial<SectionRequest>,
): Promise<ScannedBlock | null> {
  const section = await chain.readSection({
    after,
    max: 1,
    isFinal: false,
    isOld: false,
    tokens,
    choose,
  });
  return section?.blocks[0] ?? null;
}

/** Throws RPC_UNAVAILABLE unless the chain has exactly this block. */
async function readBlock(
  chain: Reader,
  block: BlockRef,
  request: Partial<SectionRequest>,
): Promise<ScannedBlock> {
  const read = await readNext(chain, block.number - 1n, request);
  if (read?.hash === block.hash) return read;
  const details = { chainId: chain.chainId, reason: "another block" };
  throw new OperatingError("RPC_UNAVAILABLE", "The node has another block.", { details });
}

export async function getBlockAfter(chain: Reader, after: bigint): Promise<BlockRef | null> {
  const block = await readNext(chain, after, {});
  return block && { number: block.number, hash: block.hash, parentHash: block.parentHash };
}

export async function listTransfers(
  chain: Reader,
  block: BlockRef,
  tokens: readonly Address[],
): Promise<readonly Transfer[]> {
  return (await readBlock(chain, block, { tokens })).transfers;
}

export async function listNativeTransfers(
  chain: Reader,
  block: BlockRef,
  choose: ChooseAccounts,
): Promise<readonly Transfer[]> {
  return (await readBlock(chain, block, { tokens: [chain.coin.token], choose })).transfers;
}

export async function listOutflows(chain: Reader, block: BlockRef): Promise<readonly Outflow[]> {
  return (await readBlock(chain, block, {})).outflows;
}
