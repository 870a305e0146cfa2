/** The rehearsal inside the namespaces that `start.ts` opens. Prints each act with its time, and fails at the first mistake. */
import { createCustomers } from "./customers.ts";
import { expectProved, losses, upgrades } from "./acts.ts";
import {
  configure,
  createKeys,
  createUsers,
  deploy,
  type Installation,
  startMachines,
  startRoles,
} from "./installation.ts";
import { ADDRESSES, openInternet, PEOPLE } from "./internet.ts";
import { openNetwork } from "./machine.ts";
import { preparePostgres } from "./postgres.ts";

const [folder = ""] = process.argv.slice(2);
const startedAt = performance.now();
// The end of `start.ts`, however it ends, ends everything here.
process.stdin.on("end", () => process.exit(1)).resume();

/** Takes an act, and prints how long it took. */
async function act<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
  const begun = performance.now();
  const value = await work();
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(`${name}: ${seconds} s`);
  return value;
}

async function rehearse(installation: Installation): Promise<void> {
  const { chains, service, attestor, database, sluice, read } = installation;
  const postgres = preparePostgres(database.machine);
  await act("users, folders and units", async () => {
    for (const host of [service, attestor]) await installation.install(host, "now");
    await createUsers(installation);
  });
  await act("database", () => postgres.create());
  await act("configuration", () =>
    configure(installation, {
      service: postgres.urlOf("service"),
      attestor: postgres.urlOf("attestor"),
    }),
  );
  const keys = await act("keys", () => createKeys(installation));
  await act("contracts", () => deploy(installation, { keys, names: ["ethereum", "base"] }));
  // The processes begin with the release before, so that they can be upgraded.
  for (const host of [service, attestor]) await installation.install(host, "before");
  await act("migration, signers and roles of the release before", () => startRoles(installation));

  const { address } = PEOPLE.refundAuthority;
  await sluice(service, `integrator create --name acme --refund-evm ${address}`);
  const { apiKey } = await read<{ readonly apiKey: string }>(
    service,
    "key create --integrator acme",
  );
  await installation.awaitApi(apiKey);
  const customers = createCustomers(chains, installation.client(apiKey));
  await act("first deposits, both ways", async () => {
    await customers.deposit("ethereum");
    await customers.deposit("base");
    await customers.expectPaid();
  });

  const scene = { installation, postgres, customers, apiKey };
  for (const [name, work] of [...upgrades(scene), ...losses(scene)]) await act(name, work);
  await act("the books", () => expectProved(installation));
  const count = await customers.expectPaidOnce();
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  console.log(`${count} customers were paid once each, and the books are proved: ${minutes} min`);
}

await openNetwork(ADDRESSES);
const installation = await startMachines(folder, await openInternet());
try {
  await rehearse(installation);
  process.exit(0);
} catch (error) {
  for (const { machine, units } of installation.all) {
    for (const name of units.names()) {
      console.error(
        `${machine.name}, ${name}, the end of its log:\n${units.logOf(name).slice(-3_000)}\n`,
      );
    }
  }
  console.error(error);
  process.exit(1);
}
