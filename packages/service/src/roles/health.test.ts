import { expect, test } from "vitest";
import { createReadableSigner, LANE } from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import type { AttestorSigner, LaneSigner, SigningRequest } from "../signers/port.ts";
import { SignerRefusal } from "../signers/refusal.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { countRefusals } from "./health.ts";

const away = new OperatingError("RPC_UNAVAILABLE", "The signer is away.");
const refuse = () => Promise.reject(new SignerRefusal("a call of this test"));
// CAST: no signer of this test reads its request.
const intent = {} as SigningRequest;
const order = {} as Parameters<AttestorSigner["signDelivery"]>[1] &
  Parameters<AttestorSigner["signClaim"]>[1] &
  Parameters<AttestorSigner["signReturn"]>[1] &
  Parameters<AttestorSigner["signPrice"]>[1];

const secondKey: AttestorSigner = {
  address: LANE,
  signDelivery: refuse,
  signClaim: refuse,
  signReturn: refuse,
  signPrice: () => Promise.reject(away),
  signRefund: () => Promise.reject(away),
};

test("counts and passes on the refusals of signers; an unreachable signer refuses nothing", async () => {
  const metrics = createMetrics();
  const lanes: LaneSigner[] = [
    { ...createReadableSigner(2), sign: refuse },
    { ...createReadableSigner(30), sign: () => Promise.reject(away) },
  ];
  const settler = countRefusals(metrics, { lanes, attestor: null, vaults: null });
  const { attestor } = countRefusals(metrics, {
    lanes: [],
    attestor: secondKey,
    vaults: null,
  });
  for (const lane of settler.lanes) await expect(lane.sign(intent)).rejects.toThrow(/signer/);
  await expect(attestor?.signDelivery(2, order)).rejects.toThrow(SignerRefusal);
  await expect(attestor?.signClaim(2, order)).rejects.toThrow(SignerRefusal);
  await expect(attestor?.signReturn(2, order)).rejects.toThrow(SignerRefusal);
  await expect(attestor?.signPrice(2, order)).rejects.toThrow("away");
  const { values } = await metrics.signerRefusals.get();
  expect(values).toEqual([
    { labels: { chain: "ethereum", purpose: "settle" }, value: 1 },
    { labels: { chain: "ethereum", purpose: "attest" }, value: 3 },
  ]);
});

test("does not change lanes that sign", async () => {
  const metrics = createMetrics();
  const signer = createReadableSigner(2);
  const [lane] = countRefusals(metrics, { lanes: [signer], attestor: null, vaults: null }).lanes;
  expect(lane).toMatchObject({ chainId: 2, purpose: "settle", address: LANE, retired: false });
  const fees = { gasPriceMax: 1n, tipMax: 1n };
  const call = { to: LANE, data: "0x" as const, value: 0n };
  const given = { call, nonce: 4, gas: 1n, fees };
  expect(await lane?.sign(given)).toEqual(await signer.sign(given));
});
