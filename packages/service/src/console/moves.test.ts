/** Moves of treasuries in the console: what it shows, and who may ask for one. */
import type { ConsoleLog, ConsoleOverview, ConsoleReadings } from "@sluice/sdk/wire";
import { describe, expect, test } from "vitest";
import { openConsole } from "../../test/support/console-desk.ts";
import { USDC } from "../../test/support/settlement-desk.ts";

const ID = "00000000-0000-4000-8000-00000000aaaa";
const ASKED = { from: 2, to: 2, token: "USDC", amount: "5", reason: "a large payout" };

/** Opens a console with a move that an operator asked for. */
async function openAsked() {
  const opened = await openConsole();
  await opened.db
    .insertInto("moves")
    .values({
      id: ID,
      src_chain: 2,
      token: USDC,
      to_address: USDC,
      dest_chain: 2,
      dest_token: USDC,
      amount: "5000000",
      state: "asked",
      operator: "console: Op",
      reason: "a large payout",
      error_text: "The chain is paused.",
    })
    .execute();
  return opened;
}

describe("moves of treasuries", () => {
  test("are shown in whole units, with the cause of their wait", async () => {
    const { join } = await openAsked();
    const viewer = await join("Vi", "viewer");
    const { moves } = await viewer.get<ConsoleOverview>("/api/overview");
    expect(moves).toMatchObject([
      {
        move: ID,
        from: "ethereum",
        to: "ethereum",
        symbol: "USDC",
        amount: "5",
        state: "asked",
        operator: "console: Op",
        error: "The chain is paused.",
      },
    ]);
    expect((await viewer.get<ConsoleReadings>("/api/readings")).directions).toEqual([]);
  });

  test.each([
    ["ask for one", "/api/moves", ASKED],
    ["cancel one", "/api/moves/cancel", { move: ID }],
  ])("only an operator with a fresh passkey may %s [T283]", async (_, url, body) => {
    const { join, age, db } = await openAsked();
    const viewer = await join("Vi", "viewer");
    expect((await viewer.post(url, body)).statusCode).toBe(403);
    const operator = await join("Op", "operator");
    await age(6);
    expect((await operator.post(url, body)).json().error.details).toEqual({ reason: "passkey" });
    const rows = await db.selectFrom("moves").select("state").execute();
    expect(rows).toEqual([{ state: "asked" }]);
  });

  test("are cancelled once, on record", async () => {
    const { join } = await openAsked();
    const operator = await join("Op", "operator");
    expect((await operator.post("/api/moves/cancel", { move: ID })).json()).toEqual({
      changed: true,
    });
    expect((await operator.post("/api/moves/cancel", { move: ID })).json()).toEqual({
      changed: false,
    });
    const { lines } = await operator.get<ConsoleLog>("/api/log");
    expect(lines[0]).toMatchObject({ action: "cancel move", operator: "console: Op" });
  });

  test("are refused with the expected field where no treasury refills an inventory", async () => {
    const { join } = await openConsole();
    const operator = await join("Op", "operator");
    const refused = await operator.post("/api/moves", ASKED);
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      400,
      "to: expected an inventory with inventoryTarget, on a chain with a treasury contract.",
    ]);
  });
});
