import { lookup } from 'node:dns/promises'

/** The world outside, as messages meet it; tests replace it. */
export interface Outside {
  /** All addresses of a name, as programs of this machine see them. */
  lookup(host: string): Promise<string[]>
  /** Where Telegram's bots are. */
  telegram: string
  /** PEM of further authorities to trust. */
  ca: string | undefined
  /** An address that the rules in `dial.ts` would refuse. */
  isExempt(address: string, port: number): boolean
}

export const OUTSIDE: Outside = {
  lookup: async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  telegram: 'https://api.telegram.org',
  ca: undefined,
  isExempt: () => false,
}
