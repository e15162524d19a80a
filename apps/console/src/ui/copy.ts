import { toast } from './feedback/Toasts.tsx'

/** Copies a text, or says that it could not. @returns whether it was copied */
export async function copyText(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value)
    return true
  } catch (error) {
    console.error('Copying failed', error)
    toast.error('Could not copy to the clipboard. Select the text and copy it by hand.')
    return false
  }
}
