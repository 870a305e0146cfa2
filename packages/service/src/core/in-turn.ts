/** Runs the work of each subject one at a time, in order of arrival; that of different subjects at the same time. */
export type InTurn = <Result>(subject: string, work: () => Promise<Result>) => Promise<Result>;

/** Creates turns. A subject without work is not remembered. */
export function createInTurn(): InTurn {
  /** The end of the latest work of each subject, with success or failure. */
  const ends = new Map<string, Promise<void>>();
  return (subject, work) => {
    const result = (ends.get(subject) ?? Promise.resolve()).then(work);
    // The outcome is the caller's; the next one waits for its end only.
    const end: Promise<void> = result.then(
      () => leave(),
      () => leave(),
    );
    const leave = () => {
      if (ends.get(subject) === end) ends.delete(subject);
    };
    ends.set(subject, end);
    return result;
  };
}
