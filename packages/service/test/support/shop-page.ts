/** A shop's page: the client's examples, bundled for a browser. The test that opens it is the shop and the customer. */
import { SluiceApiError, type SluiceClientOptions, createSluiceClient } from "@sluice/sdk";
import { acceptPayment, type Order, type Terms } from "../../../sdk/examples/accept-payment.ts";
import { processEvents } from "../../../sdk/examples/follow-events.ts";

/** The functions that the test gives to the page. */
interface Shop {
  show(payment: { readonly address: string; readonly uri: string }): Promise<void>;
  record(line: string): Promise<void>;
}

declare global {
  var shop: Shop;
  var page: typeof shopPage;
}

const shopPage = {
  acceptPayment: (
    service: SluiceClientOptions,
    asked: { readonly order: Order; readonly terms: Terms },
  ) => acceptPayment(service, asked, (payment) => shop.show(payment)),

  /** Processes events until the page is closed. */
  processEvents(service: SluiceClientOptions): void {
    const store = {
      readCursor: async () => undefined,
      process: (event: object) => shop.record(JSON.stringify(event)),
    };
    void processEvents(service, store, new AbortController().signal);
  },

  /** Returns the message of a refused call's error. */
  async readRefusal(service: SluiceClientOptions): Promise<string> {
    try {
      await createSluiceClient(service).listSwaps();
    } catch (error) {
      return error instanceof SluiceApiError ? error.code : String(error);
    }
    return "nothing was refused";
  },
};
globalThis.page = shopPage;
