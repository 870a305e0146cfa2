/** The texts of the pay page in German. */
import type { Texts } from "./en.ts";

export const de: Texts = {
  language: "Deutsch",
  title: "Zahlung",
  arrives: (token, chain) => `Kommt an als ${token} auf ${chain} bei`,
  loading: "Die Zahlungsdaten werden geladen …",
  problems: {
    unknown: [
      "Dieser Link ist nicht bekannt",
      "Prüfen Sie, ob die Adresse dieser Seite vollständig ist, oder bitten Sie den Absender um einen neuen Link.",
    ],
    expired: [
      "Dieser Link ist abgelaufen",
      "Bitten Sie den Absender um einen neuen Link. Eine bereits gesendete Zahlung wird trotzdem verarbeitet.",
    ],
    revoked: [
      "Dieser Link wurde zurückgezogen",
      "Bitten Sie den Absender um einen neuen Link. Eine bereits gesendete Zahlung wird trotzdem verarbeitet.",
    ],
    unreachable: [
      "Der Dienst ist nicht erreichbar",
      "Diese Seite versucht es von selbst wieder. Eine bereits gesendete Zahlung wird trotzdem verarbeitet.",
    ],
  },
  connection: {
    offline:
      "Keine Verbindung. Zahlungen werden auch ohne diese Seite verarbeitet; sie holt alles von selbst nach.",
    polling: "Aktualisiert sich alle paar Sekunden.",
    live: "Aktualisiert sich sofort.",
    connecting: "Verbindung wird aufgebaut …",
  },
  choose: "Womit zahlen Sie?",
  token: "Token",
  network: "Netzwerk",
  amount: "Zu sendender Betrag (freiwillig)",
  badAmount: (decimals) => `Geben Sie eine Zahl mit höchstens ${decimals} Nachkommastellen ein.`,
  minimum: (amount) => `Mindestens ${amount}`,
  noMinimum: "Kein Mindestbetrag",
  terms: {
    arrives: "Kommt an",
    atLeast: (amount) => `mindestens ${amount}`,
    about: (amount) => `etwa ${amount}`,
    fees: "Gebühren",
    none: "keine",
    time: "Übliche Dauer",
    tooSmall: (minimum) =>
      `Das ist weniger als der Mindestbetrag von ${minimum}. Es bliebe an der Adresse liegen, bis mehr ankommt.`,
    belowMinimum:
      "Dieser Betrag ist zu klein, um zugestellt zu werden. Er bliebe an der Adresse liegen, bis mehr ankommt.",
    unavailable: "Zurzeit gibt es keine Schätzung. Die Adresse funktioniert trotzdem.",
    computing: "Wird berechnet …",
  },
  address: "Einzahlungsadresse",
  sendOnly: (token, chain) => `Senden Sie ${token} auf ${chain} an diese Adresse.`,
  anyTime: "Sie können mehrmals zahlen, in jedem der aufgeführten Token.",
  copy: "Adresse kopieren",
  copied: "Kopiert",
  copyFailed: "Das Kopieren schlug fehl. Markieren und kopieren Sie die Adresse.",
  openWallet: "In Wallet öffnen",
  qr: (address) => `QR-Code der Adresse ${address}`,
  check: {
    running: "Die Adresse wird geprüft …",
    evm: "In Ihrem Browser geprüft",
    evmText:
      "Die Adresse wurde aus dem Empfänger unten berechnet. Der Vertrag dahinter kann niemand anderem zahlen, außer einer Erstattung an die Erstattungsadresse.",
    svm: "Vom Signierer des Betreibers unterschrieben",
    svmText:
      "Der Signierer bestätigt, dass die Adresse zum Empfänger unten gehört. Auf Solana erzwingt das kein Vertrag: Sie vertrauen dem Signierer.",
    byHost:
      "Die Ausgangswerte dieser Prüfung stammen von der Seite, von der Sie kommen, nicht vom Zahlungsdienst.",
    byServer:
      "Diese Seite stammt vom Zahlungsdienst selbst, also beruht die Prüfung auf ihm. Vergleichen Sie den Empfänger mit dem, den Sie erwarten.",
    unchecked:
      "Dieser Browser kann die Unterschrift der Adresse nicht prüfen. Vergleichen Sie den Empfänger mit dem, den Sie erwarten.",
    recipient: "Empfänger",
    refundAddress: "Erstattungsadresse",
    bad: "Zahlen Sie nicht an diese Adresse",
    badText:
      "Die Prüfung in Ihrem Browser schlug fehl: Die Adresse gehört nicht zum erwarteten Empfänger. Sagen Sie es der Person, die Ihnen diesen Link geschickt hat.",
  },
  details: "Einzelheiten der Prüfung",
  every: "Alle Token und Netzwerke",
  table: { token: "Token", network: "Netzwerk", minimum: "Mindestbetrag", time: "Übliche Dauer" },
  help: "Was geschieht, wenn etwas schiefgeht?",
  helpItems: [
    [
      "Ein anderer Token",
      "Ein Token, der nicht aufgeführt ist, wird nicht zugestellt. Er bleibt an der Adresse, bis der Betreiber oder die Erstattungsadresse ihn zurückholt. Fragen Sie den Absender dieses Links.",
    ],
    [
      "Ein anderes Netzwerk",
      "Die Adresse gilt auf den aufgeführten Netzwerken. Auf einem anderen beobachtet sie womöglich niemand, und die Zahlung kann verloren sein.",
    ],
    [
      "Zu wenig",
      "Weniger als der Mindestbetrag bleibt an der Adresse liegen. Senden Sie den Rest, dann wird beides zusammen zugestellt.",
    ],
    ["Zu viel oder doppelt", "Alles, was ankommt, wird dem Empfänger zugestellt."],
  ],
  payments: "Zahlungen",
  noPayments:
    "Es wird auf eine Zahlung gewartet. Sie erscheint hier Sekunden nach ihrem Eintreffen, auch wenn Sie die Seite neu laden.",
  more: "Ältere Zahlungen werden nicht gezeigt.",
  states: {
    received: "Eingetroffen",
    moving: "Unterwegs",
    delivered: "Zugestellt",
    short: "Zu wenig",
    held: "Nicht zugestellt",
    orphaned: "Netzwerk ordnet neu",
    dropped: "Vom Netzwerk verworfen",
    refundable: "Nicht zugestellt",
    refunding: "Wird erstattet",
    refunded: "Erstattet",
  },
  stateTexts: {
    received: "Die Zahlung ist eingetroffen und wird bestätigt.",
    moving: "Die Zahlung ist unterwegs zum Empfänger.",
    delivered: "Der Empfänger hat die Zahlung erhalten.",
    short:
      "Die Zahlung ist eingetroffen, liegt aber unter dem Mindestbetrag. Es ist nichts verloren.",
    held: "Die Zahlung ist eingetroffen, kann aber von hier zurzeit nicht zugestellt werden. Fragen Sie den Absender dieses Links.",
    orphaned:
      "Das Netzwerk hat den Block dieser Zahlung ersetzt. Meist erscheint sie von selbst wieder; prüfen Sie sie in Ihrer Wallet.",
    dropped:
      "Das Netzwerk hat diese Zahlung wieder aus seinen Blöcken genommen, und sie kam nicht zurück: Aus Ihrer Wallet ist durch sie nichts abgegangen. Prüfen Sie Ihre Wallet und zahlen Sie noch einmal.",
    refundable:
      "Die Zahlung konnte nicht zugestellt werden. Sie liegt noch an der Adresse und kann erstattet werden. Fragen Sie den Absender dieses Links.",
    refunding: "Die Zahlung ist unterwegs zur Erstattungsadresse.",
    refunded: "Die Zahlung ging an die Erstattungsadresse zurück.",
  },
  steps: { received: "Eingetroffen", moving: "Unterwegs", delivered: "Zugestellt" },
  confirmations: (done, required) =>
    required === null
      ? `${done} Bestätigungen`
      : `${Math.min(done, required)} von ${required} Bestätigungen`,
  final: "Bestätigt",
  waiting: {
    worker: "Als Nächstes an der Reihe.",
    confirmations: "Es wird auf Bestätigungen des Netzwerks gewartet.",
    transaction: "Es wird darauf gewartet, dass das Netzwerk die Transaktion aufnimmt.",
    bridge: "Es wird auf die Brücke zwischen den Netzwerken gewartet.",
    delivery: "Die Auszahlung an den Empfänger wird gesendet.",
    gas_price: "Die Netzwerkgebühren sind zurzeit hoch. Die Zustellung wartet, bis sie sinken.",
    liquidity: "Die Mittel des Betreibers auf dem anderen Netzwerk werden aufgefüllt.",
    operator:
      "Der Betreiber muss diese Zahlung freigeben. Fragen Sie den Absender dieses Links, wenn es lange dauert.",
    price: "Es wird auf einen aktuellen Preis gewartet.",
    node: "Ein Netzwerk ist zurzeit nicht erreichbar. Die Zustellung geht von selbst weiter.",
    amount_too_small:
      "Der Betrag deckt zurzeit die Gebühren nicht. Senden Sie mehr, oder warten Sie.",
    recipient: "Der Empfänger kann zurzeit nicht empfangen.",
    refund: "Eine Erstattung läuft.",
    reorg: "Das Netzwerk ordnet seine neuesten Blöcke neu.",
    retry: "Ein Schritt schlug fehl und wird wiederholt.",
  },
  nextTry: (time) => `Nächster Versuch um ${time}.`,
  usually: (time) => `Üblicherweise insgesamt ${time}.`,
  addMore: (amount, chain) =>
    `Senden Sie mindestens ${amount} mehr auf ${chain} an dieselbe Adresse.`,
  sent: "Gezahlt",
  arrived: "Angekommen",
  fees: "Gebühren",
  transactions: "Transaktionen",
  paymentTx: "Zahlung",
  deliveryTx: "Zustellung",
  sweepTx: "Abholung von der Adresse",
  refundTx: "Erstattung",
  newTab: "öffnet sich in einem neuen Tab",
  receipt: "Beleg",
  print: "Drucken",
  json: "Als JSON speichern",
  expires: (time) => `Dieser Link zeigt die Zahlung bis ${time}. Die Adresse bleibt gültig.`,
  seconds: (count) => (count === 1 ? "1 Sekunde" : `${count} Sekunden`),
  minutes: (count) => (count === 1 ? "1 Minute" : `${count} Minuten`),
  hours: (count) => (count === 1 ? "1 Stunde" : `${count} Stunden`),
};
