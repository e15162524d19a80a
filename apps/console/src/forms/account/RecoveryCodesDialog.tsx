import { Download } from 'lucide-react'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { saveFile } from '../../util/browser.ts'
import './factors.css'

/** New recovery codes, only this once. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  useLeaveGuard(true, confirmLeave)
  const text = `${codes.join('\n')}\n`
  return (
    <InfoDialog
      title="Your Recovery Codes"
      description="Each gets you in once, in place of your second factor, when you have lost it. Keep them where you find them without your phone and this computer."
      oneTime
      closeText="I Have Kept Them"
      onClose={onClose}
    >
      <ol className="recovery-codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div className="acts">
        <CopyButton label="Copy the recovery codes" value={text} />
        <Button
          icon={Download}
          onClick={() => saveFile('postern-recovery-codes.txt', new Blob([text], { type: 'text/plain' }))}
        >
          Download
        </Button>
      </div>
      <Banner kind="warn">
        <p>They are only visible now. Those from before work no longer.</p>
      </Banner>
    </InfoDialog>
  )
}

function confirmLeave(): Promise<boolean> {
  return confirm({
    title: 'Leave without the codes?',
    description: 'They are visible only once. Copy them first.',
    variant: 'danger',
    cancelButtonText: 'Stay',
    acceptButtonText: 'Leave',
  })
}
