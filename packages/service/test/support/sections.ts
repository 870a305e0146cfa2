/** Builds a chain's `readSection` of reads of single blocks, as doubles have them. */
import type {
  BlockRef,
  ChainReader,
  Outflow,
  ScannedBlock,
  SectionRequest,
  Transfer,
} from "../../src/chains/port/index.ts";

/** Reads of single blocks; each throws if the node lacks the block. */
export interface BlockReads {
  /** Returns the next block above a height, or null. */
  readonly getBlockAfter: (number: bigint) => Promise<BlockRef | null>;
  /** Unix seconds; by default very old, so that the scanner reads on at once. */
  readonly getBlockTime?: (block: BlockRef) => bigint;
  readonly listTransfers: (
    block: BlockRef,
    tokens: SectionRequest["tokens"],
  ) => Promise<readonly Transfer[]>;
  readonly listNativeTransfers?: (
    block: BlockRef,
    choose: SectionRequest["choose"],
  ) => Promise<readonly Transfer[]>;
  readonly listOutflows: (block: BlockRef) => Promise<readonly Outflow[]>;
}

/** Returns a `readSection` that reads block by block, and leaves out empty final blocks. */
export function createSectionReader(reads: BlockReads): ChainReader["readSection"] {
  async function read(block: BlockRef, request: SectionRequest): Promise<ScannedBlock> {
    const { tokens, choose } = request;
    const [transfers, outflows] = [
      [
        ...(await reads.listTransfers(block, tokens)),
        ...((await reads.listNativeTransfers?.(block, choose)) ?? []),
      ],
      await reads.listOutflows(block),
    ];
    const chosen = await choose([
      ...transfers.map(({ to }) => to),
      ...outflows.map(({ wallet }) => wallet),
    ]);
    return {
      ...block,
      time: reads.getBlockTime?.(block) ?? 0n,
      transfers: transfers.filter(({ to }) => chosen.has(to)),
      outflows: outflows.filter(({ wallet }) => chosen.has(wallet)),
    };
  }

  return async (request) => {
    const blocks: ScannedBlock[] = [];
    for (let { after } = request; blocks.length < request.max;) {
      const block = await reads.getBlockAfter(after);
      const tip = blocks.at(-1);
      if (!block || (tip && block.parentHash !== tip.hash)) break;
      blocks.push(await read(block, request));
      after = block.number;
    }
    const [first] = blocks;
    if (!first) return null;
    const isKept = ({ transfers, outflows }: ScannedBlock, index: number) =>
      !request.isFinal || transfers.length + outflows.length > 0 || index === blocks.length - 1;
    return { parentHash: first.parentHash, blocks: blocks.filter(isKept) };
  };
}
