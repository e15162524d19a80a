import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { StarterLab } from './starter-lab.ts'

/** The private memory of a process: its heaps, stacks and compiled code. */
export function privateMegabytes(pid: number): number {
  const kilobytes = /^Pss_Anon: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

/** The pid of this installation's HAProxy, of which there must be exactly one. */
export async function haproxyPid(at: StarterLab): Promise<number> {
  const lines = (await at.lab.server.must('ps', '-eo', 'pid=,args=')).split('\n')
  const ours = lines.filter(
    (line) => /^ *\d+ \S*haproxy /.test(line) && line.includes(`${at.paths.haproxyDir}/`),
  )
  expect(ours).toHaveLength(1)
  return Number.parseInt(ours[0] ?? '', 10)
}

/** The processes behind the tunnel's interface; none where the kernel has WireGuard itself. */
export async function tunnelPids(at: StarterLab): Promise<number[]> {
  const { stdout } = await at.lab.server.run(
    'pgrep',
    '-f',
    `^wireguard-go -f ${at.env.POSTERN_TUNNEL_INTERFACE}`,
  )
  return stdout.split('\n').filter(Boolean).map(Number)
}

export async function idOf(at: StarterLab, user: string): Promise<number> {
  return Number(await at.lab.server.must('id', '-u', user))
}

export async function answers(at: StarterLab): Promise<boolean> {
  const { stdout } = await at.lab.visitor.run(
    'curl',
    '-sk',
    '-m',
    '3',
    `https://${at.lab.server.address}/api/health`,
  )
  return stdout.includes('ok')
}
