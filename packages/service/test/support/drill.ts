/** Drills of a disaster, whose times `docs/operations.md` states. */

/** Begins a drill. The returned function prints how long it took until deposits were delivered again. */
export function beginDrill(what: string): () => void {
  const startedAt = performance.now();
  return () => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`time to recover, ${what}: ${seconds} s`);
  };
}
