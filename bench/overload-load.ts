/** Load of the benchmark `overload`: requests a path with each key over some connections, until told to end. */
import { once } from "node:events";
import { Agent, get } from "node:http";

/** Answers of one key, by status. */
export type Answers = Readonly<Record<string, number>>;

const [url = "", connections = "", ...keys] = process.argv.slice(2);
const ended = once(process, "message");
let isOver = false;
void ended.then(() => (isOver = true));

async function ask(agent: Agent, apiKey: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  get(url, { agent, headers: { "x-api-key": apiKey } }, (response) => {
    response.resume().on("end", () => resolve(response.statusCode ?? 0));
  }).on("error", () => resolve(0));
  return promise;
}

const counts = await Promise.all(
  keys.map(async (apiKey): Promise<Answers> => {
    const agent = new Agent({ keepAlive: true });
    const answers: Record<string, number> = {};
    const one = async () => {
      while (!isOver) {
        const status = await ask(agent, apiKey);
        answers[status] = (answers[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: Number(connections) }, one));
    return answers;
  }),
);
process.send?.(counts, () => process.exit());
