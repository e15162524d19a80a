/**
 * What has figures of its own, in rows like those of services, whose key is their id: the sum of what was counted for
 * its services, including deleted ones. Adding them up when someone looks would take seconds for thousands of services.
 */

/** Far beyond all ids; the sums are still exact whole numbers. */
const KIND = 2 ** 40

export const nodeKey = (node: number) => -node
export const domainKey = (domain: number) => -(KIND + domain)
export const edgeKey = (edge: number) => -(2 * KIND + edge)
/** The whole installation. */
export const ALL_KEY = -3 * KIND
