/** Every file HAProxy reads or is reached by, below its directory. */
export function haproxyPaths(directory: string) {
  return {
    config: `${directory}/haproxy.cfg`,
    lua: `${directory}/postern.lua`,
    page: (name: string) => `${directory}/pages/${name}.html`,
    pages: `${directory}/pages`,
    routes: `${directory}/routes.map`,
    lists: `${directory}/lists.map`,
    nodes: `${directory}/nodes.map`,
    certificates: `${directory}/certs`,
    certificate: (id: number) => `${directory}/certs/${id}.pem`,
    certificateList: `${directory}/certs.list`,
    socket: `${directory}/admin.sock`,
    output: `${directory}/haproxy.log`,
    pid: `${directory}/haproxy.pid`,
    logPort: `${directory}/log-port`,
    logSecret: `${directory}/log-secret`,
  } as const
}
export type HaproxyPaths = ReturnType<typeof haproxyPaths>
