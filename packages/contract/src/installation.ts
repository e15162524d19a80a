/**
 * Where an installation keeps its files, below its data directory. The owners matter as much as the paths: `server/`
 * is the server's alone (0700), `edge/` is root's alone (0700), `run/` holds the one socket that HAProxy and the edge
 * use to reach the server, `lanes/` holds those between the parts of HAProxy, whose group may only pass through it
 * (0710), `edge.token` is readable by root and the server only (0640).
 */
export function installationPaths(dataDir: string) {
  return {
    serverDir: `${dataDir}/server`,
    database: `${dataDir}/server/postern.db`,
    liveDatabase: `${dataDir}/server/live.db`,
    /** What services have carried, while no server runs. */
    counters: `${dataDir}/server/counters.json`,
    /** Why the last backup could not be made. */
    backupFailure: `${dataDir}/server/backup-failure.json`,
    /** The console, for root alone: what `ssh -L` forwards without a port that another user could hold. */
    consoleSocket: `${dataDir}/server/console.sock`,
    secretKey: `${dataDir}/server/secret.key`,
    /** The edge's program, as other machines download it. */
    edgeProgramDir: `${dataDir}/server/edge-program`,
    /** The admin's password on its way to the first start, which reads it and removes the file. */
    firstPassword: `${dataDir}/server/first-password`,
    edgeToken: `${dataDir}/edge.token`,
    runDir: `${dataDir}/run`,
    serverSocket: `${dataDir}/run/server.sock`,
    lanesDir: `${dataDir}/lanes`,
    edgeDir: `${dataDir}/edge`,
    lastGood: `${dataDir}/edge/state.json`,
    /** The key and certificate of an edge elsewhere, and which installation it belongs to. */
    identityDir: `${dataDir}/edge/identity`,
    /** The resolved addresses of backends that are names. */
    names: `${dataDir}/edge/names.json`,
    counts: `${dataDir}/edge/counts.json`,
    /** The requests of the last days. */
    requestsDir: `${dataDir}/edge/requests`,
    haproxyDir: `${dataDir}/edge/haproxy`,
    wireguardDir: `${dataDir}/edge/wireguard`,
    starterPid: `${dataDir}/starter.pid`,
    /** Empty on disk; the repository is mounted here when the server's user may not read it where it is. */
    programDir: `${dataDir}/program`,
  } as const
}
export type InstallationPaths = ReturnType<typeof installationPaths>

/** System users: the server's, and the one HAProxy becomes after it has bound its ports. */
export const SYSTEM_USERS = { server: 'postern', proxy: 'postern-proxy' } as const
