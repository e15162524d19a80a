import { messageOf } from '../errors.ts'
import type { Wanted } from '../wanted.ts'
import { type DnsForwarder, type DnsForwarderOptions, openDnsForwarder } from './forwarder.ts'

const DNS_PORT = 53

/** The forwarder of a gateway, there exactly while the node is one. */
export interface DnsService {
  /** @returns what could not be had, in words. */
  apply(wanted: Wanted): Promise<string[]>
  close(): void
}

export function createDnsService(
  options: Pick<DnsForwarderOptions, 'random'> & { listNameServers(): Promise<string[]> },
): DnsService {
  let forwarder: DnsForwarder | undefined
  let key = ''

  function close(): void {
    forwarder?.close()
    forwarder = undefined
    key = ''
  }

  return {
    close,
    async apply({ gateway, addresses, edgeAddress }) {
      const address = addresses.find((one) => !one.includes(':'))?.split('/')[0]
      if (!gateway || !address) {
        close()
        return []
      }
      if (key === `${address} ${edgeAddress}`) return []
      close()
      // A question to ourselves would come back to us for ever.
      const listUpstreams = async () =>
        (await options.listNameServers())
          .filter((server) => server !== address)
          .map((server) => ({ address: server, port: DNS_PORT }))
      try {
        const { random } = options
        forwarder = await openDnsForwarder({
          address,
          port: DNS_PORT,
          client: edgeAddress,
          listUpstreams,
          random,
        })
        key = `${address} ${edgeAddress}`
        return []
      } catch (error) {
        return [
          `Names behind this gateway cannot be resolved: UDP port 53 of ${address}: ${messageOf(error)}`,
        ]
      }
    },
  }
}
