/** The sizes of the two situations that are compared. */
export const SIZES = {
  nodes: { heavy: 10_000, light: 100 },
  services: { heavy: 20_000, light: 100 },
  /** Services of an installation with a real edge. */
  routes: { heavy: 20_000, medium: 5_000, light: 10 },
  certificates: { heavy: 500, medium: 200, light: 10 },
} as const

/** How often each thing is done; the short run is for every change of the code, the long one for figures to quote. */
export interface Effort {
  /** Repetitions of work inside the server. */
  rounds: number
  /** Messages, which the server passes on at most every quarter of a second. */
  messages: number
  /** New routes until they are visible. */
  routes: number
  /** Runs of the load programs, one after the other. */
  loads: number
  loadSeconds: number
  /** Certificates, at an authority of the lab. */
  orders: number
  /** The size of a transfer, each way. */
  transferBytes: number
  /** Requests that an edge has kept of a day. */
  keptRequests: number
  /** How long an agent is watched, in s; it looks at its tunnel every 20. */
  agentSeconds: number
}

export const LONG: Effort = {
  rounds: 60,
  messages: 20,
  routes: 40,
  loads: 4,
  loadSeconds: 3,
  orders: 300,
  transferBytes: 100e6,
  keptRequests: 10e6,
  agentSeconds: 100,
}
export const SHORT: Effort = {
  rounds: 10,
  messages: 4,
  routes: 8,
  loads: 1,
  loadSeconds: 2,
  orders: 60,
  transferBytes: 50e6,
  keptRequests: 500e3,
  agentSeconds: 40,
}
