import { findBackend, findOwnNetworks, findUnknownNetworks, type Gateway } from './backend.ts'
import type { Container } from './engine.ts'
import { LabelError, readLabels } from './labels.ts'
import { MAX_OFFERS, type Offer, type Offers } from './offer.ts'

/** The services in the containers' labels. Containers without our labels are ignored. */
export function offerContainers(containers: readonly Container[], gateway: Gateway): Offers {
  const ownNetworks = findOwnNetworks(containers, gateway)
  const services: Offer[] = []
  const problems: string[] = []
  const used: string[] = []
  // In a fixed order, so that the same containers make the same set.
  for (const container of [...containers].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    try {
      const labelled = readLabels(container)
      if (labelled.length === 0) continue
      const { host, address } = getBackend(container, ownNetworks)
      services.push(...labelled.map((service) => ({ ...service, backendHost: host })))
      used.push(address)
    } catch (error) {
      if (!(error instanceof LabelError)) throw error
      problems.push(`the container ${container.name} is not published: ${error.message}`)
    }
  }
  const unknown = findUnknownNetworks(used, gateway)
  if (unknown) problems.push(unknown)
  if (services.length <= MAX_OFFERS) return { services, problems }
  const rest = `only ${MAX_OFFERS} of ${services.length} services are published: the server takes no more of a source`
  return { services: services.slice(0, MAX_OFFERS), problems: [...problems, rest] }
}

function getBackend(container: Container, ownNetworks: readonly string[]) {
  const backend = findBackend(container, ownNetworks)
  if (backend) return backend
  throw new LabelError("it isn't on a network that this gateway can reach. Attach both to the same one")
}
