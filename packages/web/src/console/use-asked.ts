/** Answers that are asked again while somebody looks. */
import { useEffect, useState } from "preact/hooks";
import { Refusal } from "./api.ts";

/** The newest answer, and the refusal since. */
export interface Asked<Value> {
  readonly value: Value | null;
  readonly refusal: Refusal | null;
}

/**
 * Asks at once and then, while the page is visible, again `everyMs` after each answer; null asks once. Another `subject` is
 * another question; another `turn` asks the same one again at once. After a refusal the last answer stays.
 */
export function useAsked<Value>(
  subject: string,
  ask: () => Promise<Value>,
  everyMs: (value: Value | null) => number | null,
  turn = 0,
): Asked<Value> {
  const [asked, setAsked] = useState<Asked<Value> & { subject: string }>();
  const own = asked?.subject === subject ? asked : undefined;
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let value: Value | null = null;
    const look = async () => {
      let refusal: Refusal | null = null;
      if (!document.hidden) {
        try {
          value = await ask();
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          refusal = error;
        }
        if (isOver) return;
        setAsked({ subject, value, refusal });
      }
      const waitMs = everyMs(value);
      if (waitMs !== null) timer = setTimeout(() => void look(), waitMs);
    };
    const onVisible = () => {
      if (document.hidden || everyMs(value) === null) return;
      clearTimeout(timer);
      void look();
    };
    void look();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [subject, turn]);
  return { value: own?.value ?? null, refusal: own?.refusal ?? null };
}
