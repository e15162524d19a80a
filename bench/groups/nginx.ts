import { mkdirSync, writeFileSync } from 'node:fs'
import type { Host } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { processorMs } from '@postern/testkit/time'
import type { Measured } from '../figures.ts'
import { median } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import { type FullInstallation, LOAD_PATH, UPSTREAM_PORT } from './full-installation.ts'
import { type Load, sendLoad } from './proxy.ts'

const PORT = 9443
const CONNECTIONS = 32

/** HAProxy as we configure it, against nginx as a careful person would, on the same host and into the same tunnel. */
export async function measureBesideNginx(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  const { installation, lab, domain } = full
  const nginx = await startNginx(full)
  const load = { connections: CONNECTIONS, seconds: effort.loadSeconds, domain }
  const ours: Cost[] = []
  const theirs: Cost[] = []
  for (let round = 0; round < effort.loads; round++) {
    const proxy = installation.haproxyPid()
    ours.push(await costOf(lab.visitor, `https://${lab.server.address}${LOAD_PATH}`, load, proxy))
    theirs.push(
      await costOf(lab.visitor, `https://${lab.server.address}:${PORT}${LOAD_PATH}`, load, nginx.pid),
    )
  }
  await nginx.stop()
  const figure = (name: string, key: keyof Cost): Measured => ({
    name,
    unit: 'µs',
    heavy: median(ours.map((cost) => cost[key])),
    light: median(theirs.map((cost) => cost[key])),
  })
  return [
    figure('proxy: processor time beside nginx', 'processor'),
    figure('proxy: a request beside nginx', 'clock'),
  ]
}

/** One request, in µs. */
interface Cost {
  clock: number
  processor: number
}

async function costOf(from: Host, url: string, load: Load, pid: number): Promise<Cost> {
  const before = processorMs(pid)
  const { requests, perSecond } = await sendLoad(from, url, load)
  return { clock: 1e6 / perSecond, processor: ((processorMs(pid) - before) * 1000) / requests }
}

/** A single process, so that its time is the whole time, with the same certificate as HAProxy. */
async function startNginx({ installation, lab, node }: FullInstallation) {
  const dir = `${installation.dataDir}/nginx`
  mkdirSync(dir)
  const certificate = `${installation.paths.haproxyDir}/certs/0.pem`
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const lines = [
    'daemon off; master_process off; user root; worker_processes 1;',
    `pid ${dir}/pid; error_log ${dir}/errors;`,
    'events { worker_connections 1000; }',
    `http { access_log ${dir}/access;`,
    ...folders.map((name) => `${name}_temp_path ${dir}/${name};`),
    `upstream node { server ${node.address}:${UPSTREAM_PORT}; keepalive 64; }`,
    `server { listen ${PORT} ssl http2; keepalive_requests 1000000;`,
    `ssl_certificate ${certificate}; ssl_certificate_key ${certificate};`,
    'location / { proxy_pass http://node; proxy_http_version 1.1;',
    'proxy_set_header Connection ""; proxy_set_header Host $host;',
    'proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto https; } } }',
  ]
  writeFileSync(`${dir}/nginx.conf`, `${lines.join('\n')}\n`)
  return await startListening(lab.server, ['nginx', '-c', `${dir}/nginx.conf`], dir, 'nginx', PORT)
}
