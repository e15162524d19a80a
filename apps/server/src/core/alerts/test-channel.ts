import type { AlertMessage } from '@postern/contract/alerts/alerts'
import type { ChannelForm } from '@postern/contract/alerts/channels'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import { openForm } from './channels.ts'
import { deliver } from './deliver/deliver.ts'
import { waitForDelivery } from './deliver/in-time.ts'

/** In ten minutes, of all people together: each is a connection to wherever somebody says. */
const MOST_TESTS = 30

/**
 * Sends a real message with the values of a form before they are saved.
 * @param id the channel whose stored secrets the form means; null for a new one
 * @throws ValidationError, NotFoundError, TooManyError
 */
export async function testChannel(
  context: Context,
  actor: string,
  form: ChannelForm,
  id: number | null,
): Promise<{ problem: string | null }> {
  const channel = await openForm(context, form, id)
  context.alertTests.check('all', MOST_TESTS)
  context.alertTests.add('all', 1)
  const sent = deliver(context, channel, testMessage(context, actor), `postern-test-${context.clock()}`)
  return { problem: await waitForDelivery(sent) }
}

function testMessage({ config }: Context, actor: string): AlertMessage {
  const url = `${publicUrl(config)}/alerts`
  const text = `${actor} sent this test from Postern at ${config.publicHost}. Alerts will arrive here.`
  return { event: 'test', title: 'Postern can reach you here', text, url, isUrgent: false, alerts: [] }
}
