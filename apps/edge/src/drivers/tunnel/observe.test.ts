import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExec } from '@postern/host/processes/exec'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { observeNetwork } from './observe.ts'

const run = async () => ({ code: 0, stdout: '[]\n[]\n', stderr: '' })
const look = (...resolvConfs: string[]) =>
  observeNetwork({ exec: { ...createExec(), run }, interface: 'pt0', resolvConfs })

test('a machine may have no list of name servers', async () => {
  expect((await look('/nowhere')).occupied).toEqual([])
})

test('the name servers of all lists are occupied: the first may name only a program of this machine that asks them', async () => {
  const directory = tempDir()
  const list = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const stub = list('stub', 'nameserver 127.0.0.53\n')
  const real = list('real', '# of systemd-resolved\nnameserver 10.9.0.2\nnameserver 2001:db8::53\n')
  const { occupied } = await look(stub, join(directory, 'absent'), real)
  expect(occupied.map(({ what }) => what)).toEqual([
    'the name server 127.0.0.53',
    'the name server 10.9.0.2',
    'the name server 2001:db8::53',
  ])
})

test('a list that cannot be read is not taken for none: a gateway could then take the name server over', async () => {
  await expect(look(tmpdir())).rejects.toThrow('EISDIR')
})
