/** Numbers that several programs must agree on. Durations are in milliseconds unless the name says otherwise. */
export const LIMITS = {
  nameLength: 100,
  passwordLength: 1024,
  passkeys: 20,
  recoveryCodes: 10,
  /** Of a password that somebody chooses. */
  passwordLeast: 8,
  pageSize: 10,
  cardPageSize: 5,
  maxPageSize: 100,
  /** Records that one request changes. */
  manyAtOnce: 500,
  /** Names at which the installation still answers after its public host has changed. */
  formerHosts: 8,
  keepaliveSeconds: 25,
  defaultHttpPort: 80,
  defaultTcpPort: 1883,
  ipListEntries: 1000,
  gatewayNetworks: 50,
  allowedEmails: 1000,
  bypassLength: 8000,
  /** Of a service's time to live, in seconds: ten years. */
  longestTtl: 315_360_000,
  /** For each source of a node. */
  publishedServices: 200,
  /** That publish services of one node. */
  sourcesPerNode: 5,
  /**
   * How much a node's agent may publish by default, and up to what a person can raise it. `entries`: of its IP lists.
   */
  agentServices: 200,
  agentServicesMost: 1000,
  agentPublishedDomains: 50,
  agentPublishedDomainsMost: 1000,
  agentPorts: 20,
  agentPortsMost: 10_000,
  agentEntries: 5000,
  agentEntriesMost: 200_000,
  /** Domains that a person allows one node's agent to use. */
  agentGivenDomains: 100,
  tokensPerNode: 100,
  apiTokensPerPerson: 50,
  /** With one API token: all of them at once, or as many in each minute. */
  apiTokenRequests: 600,
  handshakeStale: 180_000,
  /** Of an address that someone asks about, and of the path in it. */
  tracedAddress: 2048,
  tracedPath: 1500,
  /** From the question to the last step. */
  traceMs: 10_000,
  logLines: 1000,
  logLineLength: 2048,
  /** Of the edge's own log. */
  journalLines: 100,
  journalLineLength: 16_384,
  /** Services that one search of kept requests names, requests that one answer of an edge holds, and one of the server. */
  searchedServices: 100_000,
  foundRequests: 1000,
  requestPage: 200,
  exportedRequests: 1_000_000,
  /** Records of one change that a list has, characters of the fields of one there, and changes of one export. */
  listedRecords: 10,
  listedFields: 4000,
  exportedChanges: 100_000,
  edgeProblems: 1000,
  edgePorts: 10_000,
  problemLength: 500,
  backendReports: 1000,
  serviceCounts: 500,
  /** Channels, rules of one's own, and people whom one e-mail reaches. */
  alertChannels: 20,
  alertRules: 50,
  alertRecipients: 20,
  alertSecretLength: 2000,
  people: 500,
  /** Ways to sign in to the console besides passwords, and the rules of one that give roles. */
  consoleProviders: 10,
  roleRules: 50,
  /** Nodes, and as many domains, that somebody is limited to. */
  reachEntries: 500,
  /** Packages of a machine. */
  waitingUpdates: 20,
  /** Each node has a tunnel to every edge. */
  edges: 16,
  /** Each edge has a connection to every server. */
  servers: 5,
  /** In bytes: what WireGuard leaves of the usual 1500, over IPv6 too. */
  tunnelMtu: 1420,
} as const
