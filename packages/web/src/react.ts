/**
 * A React component around `<sluice-pay>`, without a dependency on React: pass the React that your page uses.
 *
 *     import * as React from "react";
 *     const SluicePay = createSluicePay(React);
 *     <SluicePay token={token} destWallet={wallet} destChain={30} onCompleted={(settlement) => …} />
 */
import type { PaySettlement, PayStatus } from "@sluice/sdk/wire";
import { SluicePay as PayElement } from "./pay/element.tsx";

/** Properties of the component: the attributes of the element, and its events. */
export interface SluicePayProps {
  readonly token: string;
  readonly server?: string;
  readonly language?: string;
  readonly factory?: string;
  readonly bindingAccount?: string;
  readonly destChain?: number;
  readonly destWallet?: string;
  readonly destToken?: string;
  readonly refundAuthority?: string;
  readonly onStatus?: (status: PayStatus) => void;
  readonly onCompleted?: (settlement: PaySettlement) => void;
}

/** The part of React that the component needs. */
export interface ReactLike<Node> {
  createElement(type: string, props: Record<string, unknown>): Node;
  useRef<Value>(initial: Value): { current: Value };
  useEffect(effect: () => (() => void) | undefined, deps: readonly unknown[]): void;
}

/** Returns the component for a React. */
export function createSluicePay<Node>({ createElement, useRef, useEffect }: ReactLike<Node>) {
  return function SluicePay({ onStatus, onCompleted, ...attributes }: SluicePayProps): Node {
    const element = useRef<HTMLElement | null>(null);
    const listeners = useRef({ onStatus, onCompleted });
    listeners.current = { onStatus, onCompleted };
    useEffect(() => {
      const { current } = element;
      if (!current) return undefined;
      const onEvent = (event: Event) => {
        if (!(event instanceof CustomEvent)) return;
        if (event.type === "sluice:status") listeners.current.onStatus?.(event.detail);
        else listeners.current.onCompleted?.(event.detail);
      };
      for (const name of EVENTS) current.addEventListener(name, onEvent);
      return () => {
        for (const name of EVENTS) current.removeEventListener(name, onEvent);
      };
    }, []);
    const named = Object.entries(attributes).map(([name, value]) => [toAttribute(name), value]);
    return createElement(PayElement.tag, { ref: element, ...Object.fromEntries(named) });
  };
}

const EVENTS = ["sluice:status", "sluice:completed"];

function toAttribute(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
