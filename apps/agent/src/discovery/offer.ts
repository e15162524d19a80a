/** One service that a source on this node wants to see published. The server judges it as it does a person's form. */
export interface Offer {
  /** By which the source knows it again, like `grafana/http`. */
  key: string
  type: 'http' | 'tcp' | 'udp'
  name: string
  domain?: string
  pathLocation?: string
  backendProto?: string
  /** Absent: this node itself. */
  backendHost?: string
  backendPort: number
  /** The public one, of a TCP or UDP service. Absent: the server chooses. */
  port?: number
  /** TLS ends at the edge, of a TCP service. */
  ssl?: boolean
  enabled?: boolean
  allowedIps?: string[]
  blockedIps?: string[]
}

/** All that a source wants, and what it could not read, in words. */
export interface Offers {
  services: Offer[]
  problems: string[]
}

/** As many as the server takes of one source. */
export const MAX_OFFERS = 200
