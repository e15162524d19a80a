import { connect } from 'node:net'
import type { Installation } from './installation.ts'
import type { Lab } from './lab/network.ts'

/** Sends one command to the running HAProxy, like somebody with access to the machine. */
export function haproxyCommand(installation: Installation, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(`${installation.paths.haproxyDir}/admin.sock`)
    let answer = ''
    socket.setEncoding('utf8').setTimeout(20_000, () => socket.destroy(new Error('HAProxy did not answer')))
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(answer))
    socket.write(`${command}\n`)
  })
}

/** The pids of all HAProxy processes on the server's host, of any user. */
export async function haproxyPids(lab: Lab): Promise<number[]> {
  const { stdout } = await lab.server.run(
    'pgrep',
    '--ns',
    String(process.pid),
    '--nslist',
    'pid',
    '-x',
    'haproxy',
  )
  const inLab = (await lab.server.must('ip', 'netns', 'pids', lab.server.name)).split('\n').map(Number)
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(Number)
    .filter((pid) => inLab.includes(pid))
}
