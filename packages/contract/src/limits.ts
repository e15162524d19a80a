/** Numbers that more than one program must agree on. Durations are in milliseconds unless the name says otherwise. */
export const LIMITS = {
  nameLength: 100,
  passwordLength: 1024,
  pageSize: 10,
  cardPageSize: 5,
  maxPageSize: 100,
  keepaliveSeconds: 25,
  defaultHttpPort: 80,
  defaultTcpPort: 1883,
  ipListEntries: 1000,
  gatewayNetworks: 50,
  allowedEmails: 1000,
  bypassLength: 8000,
  /** Per source of a node. */
  publishedServices: 200,
  /** That publish services of one node. */
  sourcesPerNode: 5,
  /** What the agent of a node may publish, unless a person raises it, and to what. `entries`: of its IP lists. */
  agentServices: 200,
  agentServicesMost: 1000,
  agentPublishedDomains: 50,
  agentPublishedDomainsMost: 1000,
  agentPorts: 20,
  agentPortsMost: 10_000,
  agentEntries: 5000,
  agentEntriesMost: 200_000,
  /** That a person gives to the agent of a node. */
  agentGivenDomains: 100,
  tokensPerNode: 100,
  handshakeStale: 180_000,
  logLines: 1000,
  logLineLength: 2048,
  edgeProblems: 1000,
  edgePorts: 10_000,
  problemLength: 500,
  backendReports: 1000,
  serviceCounts: 500,
  /** In bytes: what WireGuard leaves of a usual 1500, also over IPv6. */
  tunnelMtu: 1420,
} as const
