import type { ManyResult } from '@postern/contract/services/many'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { type ConfirmOptions, confirm } from '../../ui/overlay/confirm.ts'
import { BUSY_DELAY } from '../../util/constants.ts'
import { countText, type Noun, outcomeText, progressText } from './many-text.ts'
import { refusedStore } from './refused-store.ts'
import { type DoneRecord, type Outcome, type Part, runParts, type Which } from './run-parts.ts'

export interface ManyVerb {
  /** `Disabling` and `disabled`. */
  doing: string
  done: string
}

interface Undo<R> {
  verb: ManyVerb
  /** What brings a record back that was changed. */
  recordOf: (done: DoneRecord) => R
  send: (part: Part<R>) => Promise<ManyResult>
}

export interface ManyAction<R> {
  noun: Noun
  verb: ManyVerb
  which: Which<R>
  send: (part: Part<R>) => Promise<ManyResult>
  /** Absent for what cannot be undone. */
  undo?: Undo<R>
  /** Afterwards, done or not. */
  refresh: () => Promise<unknown>
}

/** Asks once for all of them. The answer says whether the box was ticked, if there is one; undefined: not accepted. */
export async function askForMany(question: ConfirmOptions): Promise<{ isChosen: boolean } | undefined> {
  let isChosen = false
  const run = async (chosen: boolean) => {
    isChosen = chosen
    return true
  }
  return (await confirm({ ...question, run })) ? { isChosen } : undefined
}

/** Does it, says how far it is when it takes long, and in the end what was done, with the way back. */
export async function runMany<R>(action: ManyAction<R>): Promise<void> {
  const { noun, verb, which, send, undo, refresh } = action
  const outcome = await withProgress(action, (progress) => runParts(which, send, progress))
  await refresh()
  const { done } = outcome
  const goBack = undo &&
    done.length > 0 && {
      text: 'Undo',
      run: () => void runMany({ ...undo, which: { records: done.map(undo.recordOf) }, noun, refresh }),
    }
  tell(outcome, { noun, verb, goBack: goBack || undefined })
}

function countOf<R>(which: Which<R>): number {
  return 'records' in which ? which.records.length : which.total
}

type Progress = Parameters<typeof runParts>[2]

async function withProgress<R>(
  { verb, which }: Pick<ManyAction<R>, 'verb' | 'which'>,
  work: (progress: Progress) => Promise<Outcome>,
): Promise<Outcome> {
  const total = countOf(which)
  let handled = 0
  let isStopped = false
  let busy: ReturnType<typeof toast.busy> | undefined
  const text = () => progressText(verb.doing, handled, total)
  const stop = () => {
    isStopped = true
  }
  const timer = setTimeout(() => {
    busy = toast.busy(text(), [{ text: 'Stop', run: stop }])
  }, BUSY_DELAY)
  // The rest would be left as it is.
  const holdPage = (event: BeforeUnloadEvent) => event.preventDefault()
  window.addEventListener('beforeunload', holdPage)
  try {
    return await work({
      isStopped: () => isStopped,
      onProgress(count) {
        handled = count
        busy?.update(text())
      },
    })
  } finally {
    clearTimeout(timer)
    busy?.end()
    window.removeEventListener('beforeunload', holdPage)
  }
}

interface Telling {
  noun: Noun
  verb: ManyVerb
  goBack: { text: string; run: () => void } | undefined
}

function tell(outcome: Outcome, { noun, verb, goBack }: Telling): void {
  const { done, unchanged, refused, failure } = outcome
  const title = `${countText(refused.length, noun)} could not be ${verb.done}`
  const why = refused.length > 0 && {
    text: 'Show why',
    run: () => refusedStore.show({ title, records: refused }),
  }
  const actions = [goBack, why].filter((each) => each !== undefined && each !== false)
  const counts = { done: done.length, unchanged, refused: refused.length }
  const text = outcomeText(counts, noun, verb.done)
  if (failure) toast.error(failure)
  if (done.length === 0 && unchanged === 0 && refused.length === 0 && failure !== undefined) return
  const isWhole = refused.length === 0 && failure === undefined
  if (isWhole) toast.success(text, undefined, actions)
  else toast.warning(text, undefined, actions)
}
