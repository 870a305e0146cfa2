import { describe, expect, test } from "vitest";
import { toEvmAddress } from "../core/hex.ts";
import { type Level, planMoves, type Source } from "./plan.ts";

const USDC = toEvmAddress(`0x${"a0".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"b0".repeat(20)}`);

/** An inventory of a token with six decimals; amounts in whole units. */
function level(chainId: number, free: number, more: Partial<Level> = {}): Level {
  const units = BigInt(free) * 1_000_000n;
  return {
    chainId,
    token: USDC,
    decimals: 6,
    free: units,
    underWay: 0n,
    min: 100_000_000n,
    target: 1_000_000_000n,
    ...more,
  };
}

/** A direction from one chain to another; amounts in whole units. */
function source(srcChain: number, destChain: number, movable: number, more: object = {}): Source {
  return {
    direction: { srcChain, token: USDC, to: OTHER, destChain, destToken: USDC },
    decimals: 6,
    movable: BigInt(movable) * 1_000_000n,
    spoken: 0n,
    minimum: 0n,
    ...more,
  };
}

function plan(levels: readonly Level[], sources: readonly Source[]): readonly string[] {
  return planMoves(levels, sources).map(
    ({ direction: { srcChain, destChain }, amount }) =>
      `${srcChain} to ${destChain}: ${Number(amount) / 1e6}`,
  );
}

describe("the plan", () => {
  test("fills an inventory with the claims of its chain, up to the target and no further", () => {
    expect(plan([level(2, 400)], [source(2, 2, 250)])).toEqual(["2 to 2: 250"]);
    expect(plan([level(2, 400)], [source(2, 2, 5_000)])).toEqual(["2 to 2: 600"]);
    expect(plan([level(2, 1_000)], [source(2, 2, 5_000)])).toEqual([]);
    expect(plan([level(2, 1_500)], [source(2, 2, 5_000)])).toEqual([]);
  });

  test("waits for a hundredth of the target, unless the inventory is below its minimum", () => {
    expect(plan([level(2, 400)], [source(2, 2, 9)])).toEqual([]);
    expect(plan([level(2, 400)], [source(2, 2, 10)])).toEqual(["2 to 2: 10"]);
    expect(plan([level(2, 99)], [source(2, 2, 9)])).toEqual(["2 to 2: 9"]);
    expect(plan([level(2, 99)], [source(30, 2, 9)])).toEqual([]);
  });

  test("counts moves under way, and amounts that earlier moves have yet to take", () => {
    const underWay = 500_000_000n;
    expect(plan([level(2, 400, { underWay })], [source(2, 2, 5_000)])).toEqual(["2 to 2: 100"]);
    expect(plan([level(2, 50, { underWay })], [source(30, 2, 5_000)])).toEqual([]);
    const spoken = { spoken: 200_000_000n };
    expect(plan([level(2, 400)], [source(2, 2, 250, spoken)])).toEqual(["2 to 2: 50"]);
    expect(plan([level(2, 400)], [source(2, 2, 150, spoken)])).toEqual([]);
  });

  test("asks other chains only below the minimum, those with the most to spare first", () => {
    expect(plan([level(2, 100)], [source(30, 2, 5_000)])).toEqual([]);
    expect(plan([level(2, 99)], [source(30, 2, 600), source(5, 2, 800)])).toEqual([
      "5 to 2: 800",
      "30 to 2: 101",
    ]);
  });

  test("takes the claims of the chain itself first", () => {
    expect(plan([level(2, 99)], [source(2, 2, 700), source(30, 2, 5_000)])).toEqual([
      "2 to 2: 700",
      "30 to 2: 201",
    ]);
  });

  test("leaves the need of its own inventory to a chain", () => {
    const levels = [level(2, 50), level(30, 700)];
    expect(plan(levels, [source(30, 2, 900)])).toEqual(["30 to 2: 600"]);
    expect(plan(levels, [source(30, 2, 300)])).toEqual([]);
  });

  test("makes one move per treasury and token, for the emptiest inventory first", () => {
    const levels = [level(2, 90), level(5, 10)];
    expect(plan(levels, [source(30, 2, 5_000), source(30, 5, 5_000)])).toEqual(["30 to 5: 990"]);
  });

  test("converts amounts of a token that has other decimals elsewhere", () => {
    const fine = { decimals: 18, movable: 700n * 10n ** 18n };
    const moves = planMoves([level(2, 50)], [source(30, 2, 0, fine)]);
    expect(moves.map(({ amount }) => amount)).toEqual([700n * 10n ** 18n]);
  });

  test("moves nothing to another chain that would be too small a deposit there", () => {
    const minimum = 60_000_000n;
    expect(plan([level(2, 99)], [source(30, 2, 59, { minimum })])).toEqual([]);
    expect(plan([level(2, 99)], [source(30, 2, 60, { minimum })])).toEqual(["30 to 2: 60"]);
  });

  test("fills reservations beyond the inventory", () => {
    expect(plan([level(2, -200)], [source(30, 2, 5_000)])).toEqual(["30 to 2: 1200"]);
  });

  test("never exceeds a source, nor a target, whatever the levels", () => {
    let seed = 7;
    const draw = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const chains = [1, 2, 3, 4];
    for (let round = 0; round < 2_000; round += 1) {
      const levels = chains.map((chainId) =>
        level(chainId, draw(1_500) - 100, { underWay: BigInt(draw(400)) * 1_000_000n }),
      );
      const sources = chains.flatMap((from) =>
        chains.map((to) => source(from, to, draw(900), { spoken: BigInt(draw(300)) * 1_000_000n })),
      );
      const moves = planMoves(levels, sources);
      const from = moves.map(({ direction }) => direction.srcChain);
      expect(new Set(from).size).toBe(from.length);
      for (const { direction, amount } of moves) {
        const used = sources.find((one) => one.direction === direction);
        expect(amount).toBeGreaterThan(0n);
        expect(amount).toBeLessThanOrEqual((used?.movable ?? 0n) - (used?.spoken ?? 0n));
      }
      for (const { chainId, free, underWay, target } of levels) {
        const got = moves
          .filter(({ direction }) => direction.destChain === chainId)
          .reduce((sum, { amount }) => sum + amount, 0n);
        const before = free + underWay;
        expect(got).toBeLessThanOrEqual(before < target ? target - before : 0n);
      }
    }
  });
});
