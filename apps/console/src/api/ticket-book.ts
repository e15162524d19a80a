import type { Ticket } from '@postern/contract/auth'

/** A ticket is not used any more when it has less than this left, in ms: the way to the server takes time. */
const MARGIN = 10_000

/** Keeps the ticket of the moment, which all streams that are opened within its time share. */
export interface TicketBook {
  /** @param isRefused whether the one at hand was refused. Rejects with what `fetchTicket` rejects with. */
  get(isRefused: boolean): Promise<string>
}

interface World {
  token: () => string | null
  now: () => number
}

export function createTicketBook(fetchTicket: () => Promise<Ticket>, { token, now }: World): TicketBook {
  let page: { token: string | null; until: number; ticket: Promise<string> } | undefined
  const turn = () => {
    const next = {
      token: token(),
      // Until the answer says how long it is good, everyone waits for this one.
      until: Number.POSITIVE_INFINITY,
      ticket: fetchTicket().then(
        ({ ticket, expires_in }) => {
          next.until = now() + expires_in * 1000 - MARGIN
          return ticket
        },
        (error: unknown) => {
          next.until = 0
          throw error
        },
      ),
    }
    page = next
    return next.ticket
  }
  return {
    get(isRefused) {
      const isGood = page !== undefined && page.token === token() && now() < page.until && !isRefused
      return isGood && page ? page.ticket : turn()
    },
  }
}
