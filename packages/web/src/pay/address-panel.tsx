/** The address: as a code, as text in groups, and how it was checked. */
import type { PayStatus } from "@sluice/sdk/wire";
import { toEvmPaymentUri, toSolanaPaymentUri } from "@sluice/sdk/payment-uri";
import { useEffect, useMemo, useState } from "preact/hooks";
import { encode } from "uqr";
import { groupAddress, parseUnits } from "../kit/amounts.ts";
import type { AddressCheck } from "./check-address.ts";
import type { Choice } from "./chooser.tsx";
import { findToken } from "./payments.ts";
import { chainName, type Words } from "./words.ts";

/** Light modules around the code: the standard asks for four. */
const QUIET = 4;
const COPIED_MS = 2_000;

export function AddressPanel(props: {
  readonly status: PayStatus;
  readonly words: Words;
  readonly check: AddressCheck | null;
  readonly choice: Choice | null;
}) {
  const { status, words, check, choice } = props;
  const { texts } = words;
  const address = status.address.walletAddress;
  const token = choice && findToken(status, choice);
  const uri = useMemo(() => walletUri(status, choice), [address, choice]);
  return (
    <section class="card address">
      <h2>{texts.address}</h2>
      <p class="order">
        {token ? texts.sendOnly(token.symbol, chainName(token.source.name)) : texts.anyTime}
      </p>
      <Code text={address} label={texts.qr(address)} />
      <code class="groups" translate={false}>
        {groupAddress(address).map((group, index) => (
          <span key={index}>{group}</span>
        ))}
      </code>
      <div class="actions">
        <Copy text={address} words={words} />
        {uri && (
          <a class="button quiet" href={uri}>
            {texts.openWallet}
          </a>
        )}
      </div>
      <Check status={status} words={words} check={check} />
    </section>
  );
}

/** The plain address as a code that every wallet reads, dark on white in every theme. */
function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => {
    const { data, size: modules } = encode(text, { ecc: "M", border: QUIET });
    const rows = data.flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    return { path: rows.join(""), size: modules };
  }, [text]);
  return (
    <svg class="code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}

function Copy({ text, words }: { readonly text: string; readonly words: Words }) {
  const { texts } = words;
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state !== "copied") return undefined;
    const timer = setTimeout(() => setState("idle"), COPIED_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    writeToClipboard(text).then(
      () => setState("copied"),
      () => setState("failed"),
    );
  return (
    <>
      <button type="button" class="button" onClick={() => void copy()}>
        {state === "copied" ? texts.copied : texts.copy}
      </button>
      <span class="spoken" role="status">
        {state === "copied" ? texts.copied : ""}
      </span>
      {state === "failed" && (
        <p class="hint" role="alert">
          {texts.copyFailed}
        </p>
      )}
    </>
  );
}

function Check(props: {
  readonly status: PayStatus;
  readonly words: Words;
  readonly check: AddressCheck | null;
}) {
  const { status, words, check } = props;
  const { check: say, details } = words.texts;
  if (check?.kind !== "ok") {
    return <p class="check">{check?.kind === "unchecked" ? say.unchecked : say.running}</p>;
  }
  const isEvm = check.family === "evm";
  const trustsHost = check.trusts === "host" && check.pinsDestination;
  return (
    <div class="check ok">
      <p>
        <Tick />
        <strong>{isEvm ? say.evm : say.svm}</strong>
      </p>
      <p class="hint">{trustsHost ? say.byHost : say.byServer}</p>
      <details>
        <summary>{details}</summary>
        <p>{isEvm ? say.evmText : say.svmText}</p>
        <dl>
          <div>
            <dt>{say.recipient}</dt>
            <dd>
              <code>{status.destination.wallet}</code> ({chainName(status.destination.name)})
            </dd>
          </div>
          <div>
            <dt>{say.refundAddress}</dt>
            <dd>
              <code>{trimWord(status.address.commitment.refundAuthority)}</code>
            </dd>
          </div>
        </dl>
      </details>
    </div>
  );
}

/** Shows a padded EVM address without its padding; any other word as it is. */
function trimWord(word: string): string {
  return word.replace(/^0x0{24}(?=[0-9a-fA-F]{40}$)/, "0x");
}

export function Tick() {
  return (
    <svg class="tick" viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r="9" />
      <path d="m6 10.5 2.7 2.7L14 7.5" />
    </svg>
  );
}

/** Returns the payment as a URI of wallets; null where no token is chosen. */
function walletUri(status: PayStatus, choice: Choice | null): string | null {
  const token = choice && findToken(status, choice);
  if (!token) return null;
  const { walletAddress: address } = status.address;
  const amount = parseUnits(choice.text, token.decimals) ?? undefined;
  const { evmChainId } = token.source;
  if (evmChainId !== null) {
    return toEvmPaymentUri({
      address,
      evmChainId,
      token: token.address,
      ...(amount === undefined ? {} : { amount }),
    });
  }
  return toSolanaPaymentUri({
    address,
    mint: token.address,
    decimals: token.decimals,
    ...(amount === undefined ? {} : { amount }),
    ...(status.title === null ? {} : { label: status.title }),
  });
}

/** Writes to the clipboard, which browsers have only on secure origins. */
async function writeToClipboard(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
