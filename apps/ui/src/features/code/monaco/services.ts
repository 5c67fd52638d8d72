/** Settles the editor's services: after every part has announced its own, and before anything uses one, since what comes
 * too late is ignored without a word. */
import { StandaloneServices } from "monaco-editor/editor/standalone/browser/standaloneServices";
import { diffProviderService } from "./diff-provider";

StandaloneServices.initialize({ ...diffProviderService });
